package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.SPARK;
import static io.sealcomb.spark.TestSession.sql;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;

/** No key leaves the executors. */
final class SecrecyTest {
    /** The keys as bytes, hex, and base64 in all three alignments. */
    private static List<byte[]> forms() throws Exception {
        List<byte[]> forms = new ArrayList<>();
        for (String name : List.of("ids", "notes")) {
            String json = Files.readString(TestSession.keyFolder().resolve(name + ".json"));
            Matcher value = Pattern.compile("\"value\": *\"([^\"]+)\"").matcher(json);
            while (value.find()) {
                byte[] proto = Base64.getDecoder().decode(value.group(1));
                byte[] key = java.util.Arrays.copyOfRange(proto, proto.length - 32, proto.length);
                forms.add(key);
                forms.add(utf8(HexFormat.of().formatHex(key)));
                forms.add(utf8(HexFormat.of().withUpperCase().formatHex(key)));
                for (int shift = 0; shift < 3; shift++) {
                    byte[] shifted = new byte[shift + key.length];
                    System.arraycopy(key, 0, shifted, shift, key.length);
                    String text = Base64.getEncoder().encodeToString(shifted);
                    forms.add(utf8(text.substring(shift == 0 ? 0 : 4, text.length() - 4)));
                }
            }
        }
        return forms;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static boolean contains(byte[] all, byte[] part) {
        String text = new String(all, StandardCharsets.ISO_8859_1);
        return text.contains(new String(part, StandardCharsets.ISO_8859_1));
    }

    @Test
    void noKeyIsInPlansExplainedSerializedOrLogged() throws Exception {
        Dataset<Row> df = sql(
                "SELECT id, unseal(seal(note, 'notes', ''), 'notes', '') AS note, seal_deterministic(ssn, 'ids', '') AS s FROM people");
        assertTrue(df.count() > 0);
        df.collectAsList();
        Exception failure = assertThrows(
                Exception.class,
                () -> sql("SELECT unseal(seal(ssn, 'notes', ''), 'notes', 'other') FROM people")
                        .collect());
        ByteArrayOutputStream everything = new ByteArrayOutputStream();
        everything.write(utf8(TestSession.plan(df)));
        everything.write(utf8(
                df.queryExecution().explainString(org.apache.spark.sql.execution.ExplainMode.fromString("formatted"))));
        everything.write(utf8(df.queryExecution().executedPlan().toJSON()));
        everything.write(utf8(failure.toString()));
        try (ObjectOutputStream serialized = new ObjectOutputStream(everything)) {
            serialized.writeObject(df.queryExecution().executedPlan());
        }
        List<Path> files = new ArrayList<>();
        Path log = Path.of(System.getProperty("sealcomb.build"), "spark.log");
        files.add(log);
        try (Stream<Path> events = Files.walk(TestSession.events())) {
            events.filter(Files::isRegularFile).forEach(files::add);
        }
        assertTrue(files.size() > 1);
        for (Path file : files) {
            everything.write(Files.readAllBytes(file));
        }
        assertTrue(contains(everything.toByteArray(), utf8("Sealcomb [")));
        assertTrue(contains(everything.toByteArray(), utf8("io.sealcomb.spark.Work")));
        for (byte[] form : forms()) {
            assertFalse(contains(everything.toByteArray(), form));
        }
    }

    @Test
    void theDriverHasNoKeys() {
        assertThrows(
                SealcombException.class, () -> Keysets.get(new KeySource("folder:" + TestSession.keyFolder()), "ids"));
        // Its identifier is that of the executor, whose tasks fetch keys.
        assertEquals("driver", SPARK.sparkContext().env().executorId());
        assertEquals(
                1,
                sql("SELECT seal_deterministic('x', 'ids', '')").collectAsList().size());
    }
}
