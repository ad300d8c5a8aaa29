package io.sealcomb.spark;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * The native library, which the jar contains.
 *
 * <p>Columns and row ids are passed as {@link InputColumn.Nodes}. Native code copies arguments and results, and holds no
 * memory of a batch once it returns.
 */
final class Native {
    static {
        load();
    }

    /** The number of buffers of a column, a result or a part of these: validity, offsets and values. */
    static final int NODE_BUFFERS = 3;

    private Native() {}

    static native long openKeyset(byte[] bytes, boolean binary);

    static native void closeKeyset(long keyset);

    static native String policy(long keyset);

    static native byte[] encryptedKeyset(byte[] text);

    /**
     * Runs a function on a batch. Returns the number of values that did not open.
     *
     * @param verb the ordinal of a {@link Work.Verb}
     * @param fields for each node of the column its name, and the type that its values open as or null if they are not
     *     sealed
     * @param ids null, like their buffers, if values are not bound to rows
     * @param result receives the buffers of the result: null for validity without nulls, and for those that a part does
     *     not have
     */
    static native long run(
            int verb,
            long keyset,
            long[] column,
            byte[][] buffers,
            String[] fields,
            byte[] context,
            long[] ids,
            byte[][] idBuffers,
            byte[][] result);

    /** Copies the library out of the jar, because the operating system loads only files. */
    private static void load() {
        String resource = "/native/" + platform() + "/libsealcomb_jni.so";
        try (InputStream library = Native.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new UnsatisfiedLinkError("the jar has no " + resource + "; build it on this kind of machine");
            }
            Path file = Files.createTempFile("sealcomb", ".so");
            try {
                Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
                System.load(file.toString());
            } finally {
                // Linux keeps the contents while they are mapped.
                Files.delete(file);
            }
        } catch (IOException error) {
            throw new UnsatisfiedLinkError("cannot copy " + resource + " to a temporary file: " + error);
        }
    }

    private static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch");
        return system + "-" + (machine.equals("amd64") ? "x86_64" : machine);
    }
}
