import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import moa.classifiers.trees.HoeffdingAdaptiveTree;
import moa.core.Globals;

/**
 * Test-then-learn passes of MOA's adaptive Hoeffding tree, with its own defaults, over rows held in memory; writes one
 * byte per row (1: right) to a file and prints one line of JSON.
 */
public class Changes {
    /** Arguments: folder of rows.f64 and labels.i64, rows, classes, categories of each column (0: numeric), output. */
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        int rows = Integer.parseInt(args[1]);
        int classes = Integer.parseInt(args[2]);
        String[] categories = args[3].split(",");

        InstancesHeader header = header(categories, classes);
        Instance[] stream = read(folder, rows, header);
        // The first pass warms the compiler of the JVM; every pass starts afresh and gives the same answers.
        new Pass(stream, header);
        Pass pass = new Pass(stream, header);
        Files.write(Path.of(args[4]), pass.right);
        System.out.printf(
                Locale.ROOT,
                "{\"seconds\": %.4f, \"alarms\": %s, \"tried\": %d, \"version\": \"%s\"}%n",
                pass.seconds,
                pass.swaps,
                pass.tree.tried(),
                Globals.versionString.trim() + ", Java " + System.getProperty("java.version"));
    }

    /** The tree with its counters, which MOA keeps to itself. */
    private static class CountedTree extends HoeffdingAdaptiveTree {
        private static final long serialVersionUID = 1L;

        int tried() {
            return alternateTrees;
        }

        int swapped() {
            return switchedAlternateTrees;
        }
    }

    /** One pass of a fresh learner; the clock runs over answers and learning only. */
    private static class Pass {
        final CountedTree tree = new CountedTree();
        final byte[] right;
        final List<Integer> swaps = new ArrayList<>();
        final double seconds;

        Pass(Instance[] stream, InstancesHeader header) {
            right = new byte[stream.length];
            tree.setModelContext(header);
            tree.prepareForUse();
            System.gc();
            long start = threadNanos();
            for (int i = 0; i < stream.length; i++) {
                right[i] = (byte) (tree.correctlyClassifies(stream[i]) ? 1 : 0);
                int before = tree.swapped();
                tree.trainOnInstance(stream[i]);
                for (int k = before; k < tree.swapped(); k++) {
                    swaps.add(i);
                }
            }
            seconds = (threadNanos() - start) / 1e9;
        }
    }

    private static InstancesHeader header(String[] categories, int classes) {
        List<Attribute> attributes = new ArrayList<>();
        for (String number : categories) {
            String name = "x" + attributes.size();
            int known = Integer.parseInt(number);
            attributes.add(known == 0 ? new Attribute(name) : new Attribute(name, names(known)));
        }
        attributes.add(new Attribute("class", names(classes)));
        InstancesHeader header = new InstancesHeader(new Instances("stream", attributes, 0));
        header.setClassIndex(categories.length);
        return header;
    }

    private static List<String> names(int number) {
        return IntStream.range(0, number).mapToObj(Integer::toString).toList();
    }

    private static Instance[] read(Path folder, int rows, InstancesHeader header) throws IOException {
        ByteBuffer values = bytes(folder.resolve("rows.f64"));
        ByteBuffer labels = bytes(folder.resolve("labels.i64"));
        int features = header.classIndex();
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
        return ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static long threadNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }
}
