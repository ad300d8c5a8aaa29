# shellcheck shell=bash
# Recipes for the jar for Spark.

readonly SPARK=$TARGET/spark

word spark "" "run_suite spark" \
    "Build the jar for Spark, target/spark/build/sealcomb-spark.jar, with the native library of this machine, and run its \
tests."
word spark-aarch64 "" build_spark_aarch64 \
    "Cross-build the native library for Linux on Arm. The next \`./dev spark\` puts it into the jar, too."
word spark-format "" format_spark "Format the sources of the jar."
word spark-bench "[OPTION...]" bench_spark \
    "Measure Spark jobs with the jar of \`./dev spark\`; --rows N and --rounds N. spark/bench.sh says what it measures."

# maven GOAL...: runs Maven with its downloads and everything that it writes in target/.
maven() {
    mvn --quiet --batch-mode --no-transfer-progress --file spark/pom.xml "-Dmaven.repo.local=$TARGET/maven" \
        "-Dsealcomb.target=$SPARK" "$@"
}

# place_spark_library FILE MACHINE: puts a library where Maven finds it.
place_spark_library() { install -D --mode 644 "$1" "$SPARK/resources/native/linux-$2/libsealcomb_jni.so"; }

build_spark_library() {
    cargo build --quiet --release -p sealcomb-jni
    place_spark_library "$TARGET/release/libsealcomb_jni.so" "$(uname -m)"
}

# In CI, the library is the one that Cargo built for the crate's tests.
build_spark_test_library() {
    build_tests
    place_spark_library "$TARGET/debug/deps/libsealcomb_jni.so" "$(uname -m)"
}

build_spark_aarch64() {
    local machine=aarch64-unknown-linux-gnu
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        cargo build --quiet --release -p sealcomb-jni --target "$machine"
    place_spark_library "$TARGET/$machine/release/libsealcomb_jni.so" aarch64
}

test_spark() { maven spotless:check verify; }

format_spark() { maven spotless:apply; }

# Runs the jar in sessions of the Python package, whose wheel is installed.
test_spark_in_python() {
    SEALCOMB_SPARK_JAR=$SPARK/build/sealcomb-spark.jar pytest_wheel python/tests/test_spark_jar.py
}

build_spark_jar() {
    build_spark_test_library
    maven -DskipTests package
}

# Compares COUNT fixed and COUNT drawn queries over sealed columns with those over plain ones.
#
# query_spark_in_python [COUNT]
query_spark_in_python() {
    build_spark_jar
    SEALCOMB_SPARK_JAR=$SPARK/build/sealcomb-spark.jar SEALCOMB_QUERIES=${1:-25} \
        pytest_wheel python/tests/test_spark_queries.py
}

# Compares COUNT fixed and COUNT drawn queries, and those that a client builds, through Spark Connect.
#
# query_spark_by_connect [COUNT]
query_spark_by_connect() {
    build_spark_jar
    SEALCOMB_SPARK_JAR=$SPARK/build/sealcomb-spark.jar SEALCOMB_QUERIES=${1:-12} \
        pytest_wheel python/tests/test_spark_connect.py
}

# Compares COUNT queries of streams, and tests restarts of streams.
#
# stream_spark_in_python [COUNT]
stream_spark_in_python() {
    build_spark_jar
    SEALCOMB_SPARK_JAR=$SPARK/build/sealcomb-spark.jar SEALCOMB_QUERIES=${1:-12} \
        pytest_wheel python/tests/test_spark_streams.py
}

bench_spark() { spark/bench.sh "$TARGET" "$@"; }
