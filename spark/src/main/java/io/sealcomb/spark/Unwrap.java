package io.sealcomb.spark;

/**
 * Decrypts keysets that Tink encrypted, usually by calling a KMS. Executors call it; the driver never does.
 *
 * <p>Set {@code spark.sealcomb.keys} to {@code wrapped:}, the name of a public class that implements this interface and
 * has a public constructor without parameters, {@code :} and the folder with the encrypted keysets.
 */
public interface Unwrap {
    /**
     * Returns a serialized keyset in Protocol Buffers. The caller overwrites the array with zeros.
     *
     * @param encrypted the field {@code encryptedKeyset} of the file, without base64
     * @throws Exception if it cannot be decrypted; the task fails
     */
    byte[] unwrap(byte[] encrypted) throws Exception;
}
