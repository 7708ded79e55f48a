"""De Rosa & Cesa-Bianchi, "Confidence Decision Trees via Online and Active Learning for Streaming Data"."""
