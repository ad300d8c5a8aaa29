#!/usr/bin/env bash
# Measures Spark jobs that seal a column with the jar, with Spark's aes_encrypt, and without encryption.
#
#   spark/bench.sh TARGET [--rows N] [--rounds N]
#
# TARGET is the folder `target` after `./dev spark`. Every job reads Parquet rows with a text of 64 bytes, and discards
# its result. Two tasks run at a time. The first round is a warm-up.
set -euo pipefail
target=$(realpath "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")"

mvn --quiet --batch-mode --no-transfer-progress "-Dmaven.repo.local=$target/maven" "-Dsealcomb.target=$target/spark" \
    dependency:build-classpath "-Dmdep.outputFile=$target/spark/classpath" -DincludeScope=test
options=()
while read -r option; do
    options+=("$option")
done < <(sed -n '/<spark.java.options>/,/<\/spark.java.options>/p' pom.xml | grep -o -- '--add-opens=[^ ]*')
exec java -Xmx4g "${options[@]}" -Dsealcomb.build="$target/spark/build" \
    -cp "$target/spark/build/sealcomb-spark.jar:$target/spark/build/test-classes:$(<"$target/spark/classpath")" \
    io.sealcomb.spark.Bench "$@"
