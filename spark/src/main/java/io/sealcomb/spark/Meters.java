package io.sealcomb.spark;

import java.io.Serializable;
import org.apache.spark.sql.execution.metric.SQLMetric;

/** What the operator counts for Spark's UI. */
record Meters(SQLMetric rows, SQLMetric batches, SQLMetric nanoseconds) implements Serializable {}
