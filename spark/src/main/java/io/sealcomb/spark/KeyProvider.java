package io.sealcomb.spark;

/**
 * A source of keysets. Executors call it; the driver never does.
 *
 * <p>Set {@code spark.sealcomb.keys} to {@code class:} and the name of a public class that implements this interface
 * and has a public constructor without parameters.
 */
public interface KeyProvider {
    /**
     * Returns a keyset in Tink's JSON. The caller overwrites the array with zeros.
     *
     * @param name the name in the call of the SQL function
     * @throws Exception if there is no such keyset, or it cannot be fetched; the task fails
     */
    byte[] keyset(String name) throws Exception;
}
