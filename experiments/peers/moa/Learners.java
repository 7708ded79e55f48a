import com.github.javacliparser.ClassOption;
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
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import moa.classifiers.AbstractClassifier;
import moa.classifiers.Classifier;
import moa.core.Measurement;

/**
 * Any classifier of MOA over rows held in memory: a test-then-learn pass, or tests of what it knows after so many rows.
 * Writes for each row that was tested 1 or 0 and the probability of the true class, as doubles; prints a line of JSON.
 */
public class Learners {
    // The compiler of the JVM is busy with the first rows, which is not the learner's time.
    private static final int WARM_UP_ROWS = 2_000;

    /**
     * Arguments: folder of rows.f64 and labels.i64, rows, classes, categories of each column (0: numeric), MOA's name and
     * options of the learner, its seed, output, and "pass" or tests as learned:first:last, by commas.
     */
    public static void main(String[] args) throws Exception {
        int rows = Integer.parseInt(args[1]);
        InstancesHeader header = header(args[3].split(","), Integer.parseInt(args[2]));
        Instance[] stream = read(Path.of(args[0]), rows, header);
        boolean pass = args[7].equals("pass");
        if (pass) {
            int few = Math.min(rows, WARM_UP_ROWS);
            go(make(args[4], Integer.parseInt(args[5]), header), Arrays.copyOf(stream, few), new Told(few));
        }
        Classifier learner = make(args[4], Integer.parseInt(args[5]), header);
        Told told = new Told(pass ? rows : tested(args[7]));
        long start = threadNanos();
        if (pass) {
            go(learner, stream, told);
        } else {
            test(learner, stream, args[7], told);
        }
        double seconds = (threadNanos() - start) / 1e9;
        Files.write(Path.of(args[6]), told.values.array());
        System.out.printf(Locale.ROOT, "{\"seconds\": %.4f, \"leaves\": %s}%n", seconds, leaves(learner));
    }

    /** What was answered: whether it was right, and how likely the truth was held to be. */
    private static class Told {
        final ByteBuffer values;

        Told(int rows) {
            values = ByteBuffer.allocate(16 * rows).order(ByteOrder.LITTLE_ENDIAN);
        }

        void add(double[] votes, Instance row) {
            double sum = 0;
            int best = 0;
            for (int k = 0; k < votes.length; k++) {
                sum += votes[k];
                best = votes[k] > votes[best] ? k : best;
            }
            int truth = (int) row.classValue();
            // Without any vote MOA answers the first class; all are then as likely.
            boolean any = sum > 0 && !Double.isNaN(sum) && !Double.isInfinite(sum);
            double likely = any ? (truth < votes.length ? votes[truth] / sum : 0) : 1.0 / row.numClasses();
            values.putDouble(best == truth ? 1 : 0).putDouble(likely);
        }
    }

    private static void go(Classifier learner, Instance[] stream, Told told) {
        for (Instance row : stream) {
            told.add(learner.getVotesForInstance(row), row);
            learner.trainOnInstance(row);
        }
    }

    private static void test(Classifier learner, Instance[] stream, String tests, Told told) {
        int done = 0;
        for (String test : tests.split(",")) {
            String[] numbers = test.split(":");
            for (; done < Integer.parseInt(numbers[0]); done++) {
                learner.trainOnInstance(stream[done]);
            }
            for (int i = Integer.parseInt(numbers[1]); i < Integer.parseInt(numbers[2]); i++) {
                told.add(learner.getVotesForInstance(stream[i]), stream[i]);
            }
        }
    }

    private static int tested(String tests) {
        int rows = 0;
        for (String test : tests.split(",")) {
            String[] numbers = test.split(":");
            rows += Integer.parseInt(numbers[2]) - Integer.parseInt(numbers[1]);
        }
        return rows;
    }

    private static Classifier make(String options, int seed, InstancesHeader header) throws Exception {
        Classifier learner = (Classifier) ClassOption.cliStringToObject(options, Classifier.class, null);
        learner.setRandomSeed(seed);
        learner.setModelContext(header);
        ((AbstractClassifier) learner).prepareForUse();
        return learner;
    }

    private static String leaves(Classifier learner) {
        for (Measurement measurement : learner.getModelMeasurements()) {
            if (measurement.getName().equals("tree size (leaves)")) {
                return Integer.toString((int) measurement.getValue());
            }
        }
        return "null";
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
