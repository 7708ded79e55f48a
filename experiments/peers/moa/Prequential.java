import com.sun.management.OperatingSystemMXBean;
import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import moa.classifiers.trees.HoeffdingTree;
import moa.core.Globals;
import moa.core.Measurement;
import moa.core.SizeOf;

/** Test-then-learn passes of MOA's Hoeffding tree over rows held in memory; prints one line of JSON. */
public class Prequential {
    private static final double WARM_UP_SECONDS = 3;
    // A warm JVM still wavers between passes more than compiled code does.
    private static final int TIMED_PASSES = 3;

    /** Arguments: folder of rows.f64 and labels.i64, rows, features, classes, MOA's own options. */
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        int rows = Integer.parseInt(args[1]);
        int features = Integer.parseInt(args[2]);
        int classes = Integer.parseInt(args[3]);
        String options = args[4];

        InstancesHeader header = header(features, classes);
        Instance[] stream = read(folder, rows, features, header);
        Pass cold = new Pass(stream, header, options);
        // Short streams need several passes until the compiler of the JVM is done.
        for (double spent = cold.seconds; spent < WARM_UP_SECONDS; ) {
            spent += new Pass(stream, header, options).seconds;
        }
        Pass warm = new Pass(stream, header, options);
        for (int i = 1; i < TIMED_PASSES; i++) {
            Pass pass = new Pass(stream, header, options);
            warm = pass.seconds < warm.seconds ? pass : warm;
        }
        System.out.printf(
                Locale.ROOT,
                "{\"seconds\": %.4f, \"cold_seconds\": %.4f, \"process_seconds\": %.4f, \"cold_process_seconds\": %.4f,"
                        + " \"correct\": %d, \"leaves\": %d, \"bytes\": %s, \"version\": \"%s\"}%n",
                warm.seconds,
                cold.seconds,
                warm.processSeconds,
                cold.processSeconds,
                warm.correct,
                leaves(warm.tree),
                SizeOf.sizeOf(warm.tree) > 0 ? Long.toString(warm.tree.measureByteSize()) : "null",
                Globals.versionString.trim() + ", Java " + System.getProperty("java.version"));
    }

    /** One pass of a fresh learner; the clock runs over answers and learning only. */
    private static class Pass {
        final HoeffdingTree tree = new HoeffdingTree();
        final double seconds;
        final double processSeconds;
        final int correct;

        Pass(Instance[] stream, InstancesHeader header, String options) {
            tree.getOptions().setViaCLIString(options);
            tree.setModelContext(header);
            tree.prepareForUse();
            // Rubbish of the pass before must not be collected on this pass's clock.
            System.gc();
            long thread = threadNanos();
            long process = processNanos();
            correct = testThenLearn(tree, stream);
            seconds = (threadNanos() - thread) / 1e9;
            processSeconds = (processNanos() - process) / 1e9;
        }
    }

    private static int testThenLearn(HoeffdingTree tree, Instance[] stream) {
        int correct = 0;
        for (Instance row : stream) {
            if (tree.correctlyClassifies(row)) {
                correct++;
            }
            tree.trainOnInstance(row);
        }
        return correct;
    }

    private static InstancesHeader header(int features, int classes) {
        List<Attribute> attributes = new ArrayList<>();
        for (int j = 0; j < features; j++) {
            attributes.add(new Attribute("x" + j));
        }
        List<String> labels = new ArrayList<>();
        for (int c = 0; c < classes; c++) {
            labels.add(Integer.toString(c));
        }
        attributes.add(new Attribute("class", labels));
        InstancesHeader header = new InstancesHeader(new Instances("stream", attributes, 0));
        header.setClassIndex(features);
        return header;
    }

    private static Instance[] read(Path folder, int rows, int features, InstancesHeader header) throws IOException {
        ByteBuffer values = bytes(folder.resolve("rows.f64"));
        ByteBuffer labels = bytes(folder.resolve("labels.i64"));
        Instance[] stream = new Instance[rows];
        for (int i = 0; i < rows; i++) {
            double[] row = new double[features + 1];
            for (int j = 0; j < features; j++) {
                row[j] = values.getDouble();
            }
            row[features] = labels.getLong();
            stream[i] = new DenseInstance(1.0, row);
            stream[i].setDataset(header);
        }
        return stream;
    }

    private static ByteBuffer bytes(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    private static int leaves(HoeffdingTree tree) {
        for (Measurement measurement : tree.getModelMeasurements()) {
            if (measurement.getName().equals("tree size (leaves)")) {
                return (int) measurement.getValue();
            }
        }
        throw new IllegalStateException("this MOA does not report 'tree size (leaves)'");
    }

    private static long threadNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static long processNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
