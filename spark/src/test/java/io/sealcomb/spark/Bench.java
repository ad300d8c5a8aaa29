package io.sealcomb.spark;

import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.daead.DeterministicAeadConfig;
import com.google.crypto.tink.daead.PredefinedDeterministicAeadParameters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/** Measures Spark jobs; {@code spark/bench.sh} runs it. */
final class Bench {
    private static final String KEY = "X'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'";

    private Bench() {}

    private static Map<String, String> jobs() {
        Map<String, String> jobs = new LinkedHashMap<>();
        jobs.put("no encryption", "SELECT id, note FROM people");
        jobs.put("`seal`, `random`", "SELECT id, seal(note, 'random', 'note') AS note FROM people");
        jobs.put("`seal`, `deterministic`", "SELECT id, seal(note, 'deterministic', 'note') AS note FROM people");
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
        Map<String, List<Double>> times = new LinkedHashMap<>();
        for (long round = 0; round <= rounds; round++) {
            for (Map.Entry<String, String> job : jobs().entrySet()) {
                long begin = System.nanoTime();
                spark.sql(job.getValue())
                        .write()
                        .format("noop")
                        .mode("overwrite")
                        .save();
                double seconds = (System.nanoTime() - begin) / 1e9;
                System.err.printf(Locale.ROOT, "round %d, %s: %.2f s%n", round, job.getKey(), seconds);
                if (round > 0) {
                    times.computeIfAbsent(job.getKey(), key -> new ArrayList<>())
                            .add(seconds);
                }
            }
        }
        spark.stop();
        print(rows, times);
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

    private static double median(List<Double> times) {
        double[] sorted =
                times.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private static void print(long rows, Map<String, List<Double>> times) {
        double plain = median(times.get("no encryption"));
        System.out.printf(
                Locale.ROOT,
                "| %d million rows | time | of the job without encryption |%n|---|---:|---:|%n",
                rows / 1_000_000);
        times.forEach((name, taken) ->
                System.out.printf(Locale.ROOT, "| %s | %.1f s | %.2f |%n", name, median(taken), median(taken) / plain));
        System.err.println(Arrays.toString(times.entrySet().toArray()));
    }
}
