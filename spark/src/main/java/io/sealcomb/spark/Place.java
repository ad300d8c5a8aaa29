package io.sealcomb.spark;

import java.io.Serializable;
import org.apache.spark.sql.types.DataType;

/**
 * A call, and where its arguments are in the rows of the operator's child.
 *
 * @param rowId the field of the row id, or -1
 * @param rowIdType null without row id
 * @param column the name of the value's column, for error messages
 */
record Place(Work work, int value, DataType valueType, int rowId, DataType rowIdType, String column)
        implements Serializable {}
