"""What all experiments share: cells, seeds, processes, stored results, tables, ranks and pages."""
