package io.sealcomb.spark;

import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Where executors find keysets: the text of {@code spark.sealcomb.keys}. It contains no key, so it may be in a plan.
 *
 * @param text {@code folder:PATH}, {@code env}, {@code env:PREFIX}, {@code class:NAME} or {@code wrapped:CLASS:PATH}
 */
record KeySource(String text) implements Serializable {
    /** The setting of the session that contains the text. */
    static final String SETTING = "spark.sealcomb.keys";

    private static final String PREFIX = "SEALCOMB_KEYSET_";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

    KeySource {
        String kind = text.split(":", 2)[0];
        boolean known = switch (kind) {
            case "env" -> true;
            case "folder", "class" -> text.length() > kind.length() + 1;
            case "wrapped" -> text.split(":", 3).length == 3;
            default -> false;
        };
        if (!known) {
            throw new IllegalArgumentException(
                    SETTING + " is \"" + text + "\"; set it to folder:PATH, env, class:NAME or wrapped:CLASS:PATH");
        }
    }

    /** Fetches a keyset. */
    Keyset fetch(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new SealcombException.KeysetError("invalid keyset name \"" + name
                    + "\": use letters, digits, '.', '_', '-'; begin with a letter or digit");
        }
        String[] parts = text.split(":", 3);
        return switch (parts[0]) {
            case "folder" -> read(text.substring("folder:".length()), name, Keyset::fromJson);
            case "env" -> fromEnvironment(parts.length > 1 ? parts[1] : PREFIX, name);
            case "class" -> fromClass(parts[1], name);
            default -> read(parts[2], name, file -> unwrapped(parts[1], name, file));
        };
    }

    private interface Reader {
        Keyset read(byte[] file);
    }

    private static Keyset read(String folder, String name, Reader reader) {
        Path path = Path.of(folder, name + ".json");
        byte[] file;
        try {
            file = Files.readAllBytes(path);
        } catch (NoSuchFileException error) {
            throw unreadable(name, path, "no such file");
        } catch (IOException error) {
            throw unreadable(name, path, error.getClass().getSimpleName());
        }
        return erasing(file, name, reader);
    }

    private static SealcombException unreadable(String name, Path path, String why) {
        return new SealcombException.KeysetError(
                "keyset '" + name + "': cannot read " + path + " (" + why + "); store its Tink JSON there");
    }

    private static Keyset fromEnvironment(String prefix, String name) {
        String variable = prefix + name.replaceAll("[-.]", "_").toUpperCase(Locale.ROOT);
        String json = System.getenv(variable);
        if (json == null) {
            throw new SealcombException.KeysetError("keyset '" + name + "': the environment variable " + variable
                    + " is not set; set it to the Tink JSON");
        }
        return erasing(json.getBytes(StandardCharsets.UTF_8), name, Keyset::fromJson);
    }

    private static Keyset fromClass(String provider, String name) {
        try {
            byte[] json = instance(provider, KeyProvider.class).keyset(name);
            return erasing(json, name, Keyset::fromJson);
        } catch (SealcombException error) {
            throw error;
        } catch (Exception error) {
            throw failed(provider, name, error);
        }
    }

    private static Keyset unwrapped(String unwrap, String name, byte[] file) {
        try {
            byte[] keyset = instance(unwrap, Unwrap.class).unwrap(Native.encryptedKeyset(file));
            return erasing(keyset, name, Keyset::fromBinary);
        } catch (SealcombException error) {
            throw error;
        } catch (Exception error) {
            throw failed(unwrap, name, error);
        }
    }

    /** The message of the cause is up to the user's class, which must not put a key there. */
    private static SealcombException failed(String provider, String name, Exception error) {
        SealcombException failure =
                new SealcombException.KeysetError("keyset '" + name + "': " + provider + " failed: " + error);
        failure.initCause(error);
        return failure;
    }

    private static Keyset erasing(byte[] secret, String name, Reader reader) {
        try {
            return reader.read(secret);
        } catch (SealcombException error) {
            throw error.at("keyset '" + name + "'");
        } finally {
            Arrays.fill(secret, (byte) 0);
        }
    }

    /** Creates an object of a user's class, which may be in a jar of the session. */
    private static <T> T instance(String name, Class<T> kind) throws ReflectiveOperationException {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        Class<?> found = Class.forName(name, true, loader == null ? KeySource.class.getClassLoader() : loader);
        return kind.cast(found.getConstructor().newInstance());
    }
}
