package io.sealcomb.spark;

import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.Key;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.aead.AesGcmSivKey;
import com.google.crypto.tink.aead.AesGcmSivParameters;
import com.google.crypto.tink.util.SecretBytes;
import java.security.GeneralSecurityException;

/** Keysets of Tink. */
final class Keys {
    private Keys() {}

    static String json(KeysetHandle handle) throws GeneralSecurityException {
        return TinkJsonProtoKeysetFormat.serializeKeyset(
                handle, RegistryConfiguration.get(), InsecureSecretKeyAccess.get());
    }

    static KeysetHandle of(Key key) throws GeneralSecurityException {
        return KeysetHandle.newBuilder()
                .addEntry(KeysetHandle.importKey(key).makePrimary())
                .build();
    }

    /** A random key of AES-256-GCM-SIV, which Tink for Java creates but cannot use without another library. */
    static KeysetHandle gcmSiv() throws GeneralSecurityException {
        return of(AesGcmSivKey.builder()
                .setParameters(AesGcmSivParameters.builder()
                        .setKeySizeBytes(32)
                        .setVariant(AesGcmSivParameters.Variant.TINK)
                        .build())
                .setKeyBytes(SecretBytes.randomBytes(32))
                .setIdRequirement(42)
                .build());
    }
}
