package io.sealcomb.spark;

import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.AesGcmKey;
import com.google.crypto.tink.aead.AesGcmParameters;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import com.google.crypto.tink.daead.DeterministicAeadConfig;
import com.google.crypto.tink.daead.PredefinedDeterministicAeadParameters;
import com.google.crypto.tink.util.SecretBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import org.apache.commons.io.FileUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The session of all tests, and the keysets in a folder for its executors. */
final class TestSession {
    /** The setting of the multiple of the median time after which a task gets a speculative attempt. */
    static final String SLOW = "spark.speculation.multiplier";

    static final Path FOLDER = folder();
    static final byte[] AES_KEY = aesKey();
    /** Keysets made by Tink: {@code ids} is deterministic, {@code notes} is random with nonces of 24 bytes. */
    static final TreeMap<String, KeysetHandle> KEYSETS = keysets();

    static final SparkSession SPARK = session();

    private TestSession() {}

    private static Path folder() {
        try {
            Path folder = Path.of(System.getProperty("sealcomb.build"), "tests");
            FileUtils.deleteDirectory(folder.toFile());
            return Files.createDirectories(folder);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    static Path keyFolder() {
        return FOLDER.resolve("secrets");
    }

    private static byte[] aesKey() {
        byte[] key = new byte[32];
        for (int index = 0; index < key.length; index++) {
            key[index] = (byte) index;
        }
        return key;
    }

    private static TreeMap<String, KeysetHandle> keysets() {
        try {
            AeadConfig.register();
            DeterministicAeadConfig.register();
            TreeMap<String, KeysetHandle> handles = new TreeMap<>();
            handles.put(
                    "ids",
                    KeysetHandle.generateNew(
                            PredefinedDeterministicAeadParameters.AES256_SIV, RegistryConfiguration.get()));
            handles.put(
                    "notes",
                    KeysetHandle.generateNew(
                            PredefinedAeadParameters.XAES_256_GCM_192_BIT_NONCE, RegistryConfiguration.get()));
            handles.put("siv", Keys.gcmSiv());
            handles.put(
                    "fast", KeysetHandle.generateNew(PredefinedAeadParameters.AES256_GCM, RegistryConfiguration.get()));
            handles.put("old", oldKey());
            Files.createDirectories(keyFolder());
            for (String name : handles.keySet()) {
                Files.writeString(keyFolder().resolve(name + ".json"), Keys.json(handles.get(name)));
            }
            try (var python = TestSession.class.getResourceAsStream("/python-keyset.json")) {
                Files.copy(python, keyFolder().resolve("python.json"));
            }
            return handles;
        } catch (GeneralSecurityException | IOException error) {
            throw new IllegalStateException(error);
        }
    }

    /** The key of {@code aes_encrypt}. */
    private static KeysetHandle oldKey() throws GeneralSecurityException {
        AesGcmParameters parameters = AesGcmParameters.builder()
                .setIvSizeBytes(12)
                .setKeySizeBytes(32)
                .setTagSizeBytes(16)
                .setVariant(AesGcmParameters.Variant.TINK)
                .build();
        AesGcmKey key = AesGcmKey.builder()
                .setParameters(parameters)
                .setKeyBytes(SecretBytes.copyFrom(AES_KEY, InsecureSecretKeyAccess.get()))
                .setIdRequirement(7)
                .build();
        return Keys.of(key);
    }

    private static SparkSession session() {
        SparkSession session = SparkSession.builder()
                .master(TwoHosts.MASTER)
                .config("spark.task.maxFailures", "3")
                .config("spark.locality.wait", "0")
                // The driver knows none of the two hosts, and refuses their heartbeats. After 60 of them, or ten
                // minutes, Spark would exit.
                .config("spark.executor.heartbeat.maxFailures", "1000000")
                // No task is that slow, unless a test sets another multiple.
                .config("spark.speculation", "true")
                .config("spark.speculation.interval", "100ms")
                .config("spark.speculation.quantile", "0.5")
                .config("spark.speculation.minTaskRuntime", "300ms")
                .config("spark.speculation.efficiency.enabled", "false")
                .config(SLOW, "1000000")
                .appName("sealcomb")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.sql.shuffle.partitions", "2")
                .config("spark.sql.timeType.enabled", "true")
                .config("spark.sql.extensions", SealcombExtensions.class.getName())
                .config("spark.sql.warehouse.dir", FOLDER.resolve("warehouse").toString())
                .config("spark.local.dir", FOLDER.resolve("local").toString())
                .config("spark.eventLog.enabled", "true")
                .config("spark.eventLog.compress", "false")
                .config("spark.eventLog.dir", events().toUri().toString())
                .config(KeySource.SETTING, "folder:" + keyFolder())
                .getOrCreate();
        session.range(20_000)
                .selectExpr("id", "concat('s', id % 1000) AS ssn", "if(id % 3 = 0, null, concat('note ', id)) AS note")
                .createOrReplaceTempView("people");
        return session;
    }

    static Path events() {
        try {
            return Files.createDirectories(FOLDER.resolve("events"));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    static Dataset<Row> sql(String text) {
        return SPARK.sql(text);
    }

    /** The rows of a query, each as text. */
    static List<String> rows(Dataset<Row> df) {
        return df.collectAsList().stream().map(Row::toString).toList();
    }

    /** A value with hexadecimal text for bytes, and lists for structs, arrays and maps: for comparisons. */
    static Object plain(Object value) {
        if (value instanceof byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        } else if (value instanceof Row row) {
            return plain(row.toSeq());
        } else if (value instanceof scala.collection.Map<?, ?> map) {
            List<Object> entries = new ArrayList<>();
            CollectionConverters.asJava(map).forEach((key, each) -> {
                entries.add(plain(key));
                entries.add(plain(each));
            });
            return entries;
        } else if (value instanceof scala.collection.Seq<?> seq) {
            List<Object> elements = new ArrayList<>();
            CollectionConverters.asJava(seq).forEach(each -> elements.add(plain(each)));
            return elements;
        }
        return value;
    }

    /** The rows of a query as plain values. */
    static List<Object> plainRows(Dataset<Row> df) {
        return df.collectAsList().stream().map(TestSession::plain).toList();
    }

    /** The text of all plans of a query. */
    static String plan(Dataset<Row> df) {
        return df.queryExecution().toString();
    }

    static <T> List<T> list(Seq<T> seq) {
        return CollectionConverters.asJava(seq);
    }
}
