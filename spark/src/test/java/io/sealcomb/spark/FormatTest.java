package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.KEYSETS;
import static io.sealcomb.spark.TestSession.SPARK;
import static io.sealcomb.spark.TestSession.rows;
import static io.sealcomb.spark.TestSession.sql;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.crypto.tink.Aead;
import com.google.crypto.tink.DeterministicAead;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** The bytes of sealed values are those of Tink, of the Python package, and of Spark's own functions. */
final class FormatTest {
    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void tinkOpensWhatSparkSealed() throws Exception {
        Aead notes = KEYSETS.get("notes").getPrimitive(RegistryConfiguration.get(), Aead.class);
        DeterministicAead ids = KEYSETS.get("ids").getPrimitive(RegistryConfiguration.get(), DeterministicAead.class);
        List<Row> sealed =
                sql("SELECT id, note, seal(note, 'notes', 'people.note'), ssn, seal_deterministic(ssn, 'ids', '') FROM people"
                                + " WHERE id % 100 = 1")
                        .collectAsList();
        assertEquals(200, sealed.size());
        for (Row row : sealed) {
            if (row.isNullAt(1)) {
                assertTrue(row.isNullAt(2));
            } else {
                assertEquals(
                        row.getString(1),
                        new String(notes.decrypt(row.getAs(2), utf8("people.note")), StandardCharsets.UTF_8));
            }
            assertArrayEquals(ids.encryptDeterministically(utf8(row.getString(3)), new byte[0]), row.getAs(4));
        }
    }

    @Test
    void sparkOpensWhatTinkSealed() throws Exception {
        Aead notes = KEYSETS.get("notes").getPrimitive(RegistryConfiguration.get(), Aead.class);
        List<Row> rows = new ArrayList<>();
        for (long id = 0; id < 100; id++) {
            byte[] context = utf8("note");
            byte[] bound = ByteBuffer.allocate(16 + context.length)
                    .putLong(context.length)
                    .put(context)
                    .putLong(id)
                    .array();
            rows.add(RowFactory.create(id, id % 9 == 0 ? null : notes.encrypt(utf8("note " + id), bound)));
        }
        StructType schema = new StructType().add("id", DataTypes.LongType).add("note", DataTypes.BinaryType);
        SPARK.createDataFrame(rows, schema).createOrReplaceTempView("tinks");
        List<Row> opened = sql("SELECT id, unseal(note, 'notes', 'note', id, 'string') FROM tinks")
                .collectAsList();
        for (Row row : opened) {
            assertEquals(row.getLong(0) % 9 == 0 ? null : "note " + row.getLong(0), row.getString(1));
        }
    }

    @Test
    void keysOfEveryTypeOpen() throws Exception {
        JsonNode file = new ObjectMapper().readTree(getClass().getResourceAsStream("/values.json"));
        assertEquals(6, file.get("tests").size());
        for (JsonNode test : file.get("tests")) {
            String key = test.get("key").asText();
            Files.writeString(
                    TestSession.keyFolder().resolve(key + ".json"),
                    test.get("keyset").toString());
            String context = "', '" + key + "', '" + file.get("context").asText() + "')";
            assertEquals(
                    List.of("[" + file.get("value").asText() + "]"),
                    rows(sql("SELECT lower(hex(unseal(X'" + test.get("sealed").asText() + context + "))")),
                    key);
        }
    }

    @Test
    void everyTypeHasTheBytesThatPythonSeals() throws Exception {
        String file =
                Path.of(getClass().getResource("/python-values.json").toURI()).toString();
        List<Row> values = SPARK.read().json(file).collectAsList();
        assertEquals(81, values.size());
        for (Row row : values) {
            String value = row.getAs("sql");
            String id = row.getAs("id");
            String binding = ", 'python', 'people.value'" + (id.equals("NULL") ? "" : ", " + id);
            String type = sql("SELECT " + value).schema().apply(0).dataType().sql();
            String opened = "unseal(" + row.getAs("sealed") + binding + ", as_type => \"" + type + "\")";
            var query = sql("SELECT seal_deterministic(" + value + binding + "), " + row.getAs("sealed") + ", " + opened
                    + ", " + value);
            assertEquals(
                    type.replace(" NOT NULL", ""),
                    query.schema().apply(2).dataType().sql().replace(" NOT NULL", ""),
                    value);
            Row found = query.first();
            assertEquals(TestSession.plain(found.get(1)), TestSession.plain(found.get(0)), value);
            assertEquals(TestSession.plain(found.get(3)), TestSession.plain(found.get(2)), value);
        }
    }

    @Test
    void valuesOfAesEncryptOpen() {
        String key = "X'" + HexFormat.of().formatHex(TestSession.AES_KEY) + "'";
        var theirs = sql(
                "SELECT id, note, aes_encrypt(note, " + key + ", 'GCM', 'DEFAULT', '', 'people') AS old FROM people");
        theirs.createOrReplaceTempView("theirs");
        assertEquals(
                20_000,
                sql("SELECT * FROM theirs WHERE string(unseal_aes_encrypt(old, 'old', 'people')) <=> note")
                        .count());
        assertEquals(
                rows(sql("SELECT id, note FROM people")),
                rows(sql("SELECT id, string(unseal_aes_encrypt(old, 'old', 'people')) FROM theirs")));
        ErrorTest.assertFails(
                SealcombException.Forged.class,
                "did not verify",
                "SELECT unseal_aes_encrypt(old, 'old', 'x') FROM theirs");
    }

    @Test
    void resealingMovesValuesToThePrimaryKey() throws Exception {
        KeysetHandle old = KEYSETS.get("notes");
        KeysetHandle rotated = KeysetHandle.newBuilder(old)
                .addEntry(KeysetHandle.generateEntryFromParameters(
                                com.google.crypto.tink.aead.PredefinedAeadParameters.XAES_256_GCM_192_BIT_NONCE)
                        .withRandomId()
                        .makePrimary())
                .build();
        Files.writeString(TestSession.keyFolder().resolve("rotated.json"), Keys.json(rotated));
        var fresh = sql("SELECT id, reseal(sealed, 'rotated', 'note', id) AS note FROM"
                + " (SELECT id, seal(note, 'notes', 'note', id) AS sealed FROM people)");
        fresh.createOrReplaceTempView("fresh");
        List<Row> ids = sql("SELECT DISTINCT hex(substring(note, 2, 4)) FROM fresh WHERE note IS NOT NULL")
                .collectAsList();
        assertEquals(1, ids.size());
        assertEquals(
                rotated.getPrimary().getId(),
                Integer.parseUnsignedInt(ids.get(0).getString(0), 16));
        assertEquals(
                rows(sql("SELECT id, note FROM people")),
                rows(sql("SELECT id, unseal(note, 'rotated', 'note', id, 'string') FROM fresh")));
    }

    @Test
    void aWrappedKeysetIsUnwrapped() throws Exception {
        Path folder = Files.createDirectories(TestSession.FOLDER.resolve("wrapped"));
        Aead kms = TestKms.aead();
        String encrypted = TinkJsonProtoKeysetFormat.serializeEncryptedKeyset(
                KEYSETS.get("ids"), kms, new byte[0], RegistryConfiguration.get());
        Files.writeString(folder.resolve("ids.json"), encrypted);
        String expected =
                rows(sql("SELECT hex(seal_deterministic('x', 'ids', ''))")).get(0);
        for (String keys :
                List.of("wrapped:" + TestKms.class.getName() + ":" + folder, "class:" + TestKms.class.getName())) {
            SPARK.conf().set(KeySource.SETTING, keys);
            try {
                assertEquals(
                        expected,
                        rows(sql("SELECT hex(seal_deterministic('x', 'ids', ''))"))
                                .get(0));
            } finally {
                SPARK.conf().set(KeySource.SETTING, "folder:" + TestSession.keyFolder());
            }
        }
    }

    /** A KMS with one key, and a provider of all keysets. */
    public static final class TestKms implements Unwrap, KeyProvider {
        private static final Aead AEAD = create();

        private static Aead create() {
            try {
                return KEYSETS.get("fast").getPrimitive(RegistryConfiguration.get(), Aead.class);
            } catch (java.security.GeneralSecurityException error) {
                throw new IllegalStateException(error);
            }
        }

        static Aead aead() {
            return AEAD;
        }

        @Override
        public byte[] unwrap(byte[] encrypted) throws Exception {
            return AEAD.decrypt(encrypted, new byte[0]);
        }

        @Override
        public byte[] keyset(String name) throws Exception {
            return utf8(Keys.json(KEYSETS.get(name)));
        }
    }
}
