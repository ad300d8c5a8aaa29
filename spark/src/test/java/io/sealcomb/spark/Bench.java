package io.sealcomb.spark;

import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.daead.DeterministicAeadConfig;
import com.google.crypto.tink.daead.PredefinedDeterministicAeadParameters;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.apache.commons.io.FileUtils;
import org.apache.spark.sql.SparkSession;

/** Measures Spark jobs; {@code spark/bench.sh} runs it. */
final class Bench {
    private static final String KEY = "X'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'";

    private Bench() {}

    private static Map<String, String> jobs() {
        Map<String, String> jobs = new LinkedHashMap<>();
        jobs.put("no encryption", "SELECT id, note FROM people");
        jobs.put("`seal`, `random`", "SELECT id, seal(note, 'random', 'note') AS note FROM people");
        jobs.put(
                "`seal`, `deterministic`",
                "SELECT id, seal_deterministic(note, 'deterministic', 'note') AS note FROM people");
        jobs.put("`seal`, `random`, row ids", "SELECT id, seal(note, 'random', 'note', id) AS note FROM people");
        jobs.put("`unseal`, `random`", "SELECT id, unseal(note, 'random', 'note') AS note FROM sealed");
        jobs.put(
                "`aes_encrypt`",
                "SELECT id, aes_encrypt(note, " + KEY + ", 'GCM', 'DEFAULT', '', 'note') AS note FROM people");
        return jobs;
    }

    private static long option(List<String> options, String name, long otherwise) {
        int at = options.indexOf(name);
        return at < 0 ? otherwise : Long.parseLong(options.get(at + 1));
    }

    public static void main(String[] arguments) throws Exception {
        long rows = option(List.of(arguments), "--rows", 20_000_000);
        long rounds = option(List.of(arguments), "--rounds", 3);
        Path folder = Files.createTempDirectory(Path.of(System.getProperty("sealcomb.build")), "bench");
        writeKeysets(folder);
        SparkSession spark = SparkSession.builder()
                .master("local[2]")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.local.dir", folder.resolve("local").toString())
                .config("spark.sql.warehouse.dir", folder.resolve("warehouse").toString())
                .config("spark.sql.extensions", SealcombExtensions.class.getName())
                .config(KeySource.SETTING, "folder:" + folder)
                .getOrCreate();
        String people = folder.resolve("people").toString();
        String sealed = folder.resolve("sealed").toString();
        spark.range(0, rows, 1, 8)
                .selectExpr("id", "sha2(concat('row ', id), 256) AS note")
                .write()
                .parquet(people);
        spark.read().parquet(people).createOrReplaceTempView("people");
        spark.sql(jobs().get("`seal`, `random`")).write().parquet(sealed);
        spark.read().parquet(sealed).createOrReplaceTempView("sealed");
        Map<String, List<Cost>> costs = new LinkedHashMap<>();
        for (long round = 0; round <= rounds; round++) {
            for (Map.Entry<String, String> job : jobs().entrySet()) {
                Cost cost = Cost.of(() -> spark.sql(job.getValue())
                        .write()
                        .format("noop")
                        .mode("overwrite")
                        .save());
                System.err.println("round " + round + ", " + job.getKey() + ": " + cost);
                if (round > 0) {
                    costs.computeIfAbsent(job.getKey(), key -> new ArrayList<>())
                            .add(cost);
                }
            }
        }
        spark.stop();
        FileUtils.deleteDirectory(folder.toFile());
        print(rows, costs);
    }

    /** The cost of a job in seconds. Other users of the machine change the time, but hardly the CPU time. */
    private record Cost(double time, double cpu) {
        private static final OperatingSystemMXBean PROCESS =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

        static Cost of(Runnable job) {
            long began = System.nanoTime();
            long beganCpu = PROCESS.getProcessCpuTime();
            job.run();
            return new Cost((System.nanoTime() - began) / 1e9, (PROCESS.getProcessCpuTime() - beganCpu) / 1e9);
        }

        static double median(List<Cost> costs, ToDoubleFunction<Cost> kind) {
            double[] sorted = costs.stream().mapToDouble(kind).sorted().toArray();
            return sorted[sorted.length / 2];
        }
    }

    private static void writeKeysets(Path folder) throws Exception {
        AeadConfig.register();
        DeterministicAeadConfig.register();
        Files.writeString(folder.resolve("random.json"), Keys.json(Keys.gcmSiv()));
        Files.writeString(
                folder.resolve("deterministic.json"),
                Keys.json(KeysetHandle.generateNew(
                        PredefinedDeterministicAeadParameters.AES256_SIV, RegistryConfiguration.get())));
    }

    private static void print(long rows, Map<String, List<Cost>> costs) {
        List<Cost> plain = costs.get("no encryption");
        System.out.printf("| %,d rows | time | ratio | CPU time | ratio |%n|---|---:|---:|---:|---:|%n", rows);
        costs.forEach((name, taken) -> {
            double time = Cost.median(taken, Cost::time);
            double cpu = Cost.median(taken, Cost::cpu);
            double timeRatio = time / Cost.median(plain, Cost::time);
            double cpuRatio = cpu / Cost.median(plain, Cost::cpu);
            System.out.printf("| %s | %.1f s | %.2f | %.1f s | %.2f |%n", name, time, timeRatio, cpu, cpuRatio);
        });
    }
}
