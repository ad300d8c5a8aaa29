//! The leaves of a sealed value: which are sealed, and what they open as.
//!
//! Types are not authenticated: a sealed field could be replaced by a plain one without a key. So the caller
//! names the leaves that were never sealed, by the parameter `plain`. Every other leaf must be a BLOB, and open.

use crate::ffi::{Arguments, Result, Value};
use crate::types::{SqlType, TAG};

/// Returns the paths that the argument `plain` lists.
pub(crate) fn named(arguments: Arguments, index: u64) -> Result<Vec<String>> {
    let sql = SqlType::of(&arguments.logical_type(index)?)?;
    let wrong = || "plain is a list of paths, such as ['address.zip', 'tags.element']".to_owned();
    let (paths, is_text) = match &sql {
        SqlType::Null => return Ok(Vec::new()),
        SqlType::List(path) | SqlType::Array(path, _) => {
            (arguments.constant(index)?, **path == SqlType::Text)
        }
        _ => return Err(wrong().into()),
    };
    if paths.is_null()? {
        return Ok(Vec::new());
    }
    let path = |path: Value| {
        if is_text && !path.is_null()? { path.text() } else { Err(wrong().into()) }
    };
    paths.children()?.into_iter().map(path).collect()
}

/// Returns the paths of all leaves of a value that are not sealed: those that the caller names, and the tags of unions.
///
/// # Errors
/// A path is that of no leaf, or of several, or no leaf is sealed; or another leaf is not a BLOB.
pub(crate) fn plain(value: &SqlType, named: &[String]) -> Result<Vec<String>> {
    if *value == SqlType::Null {
        return Ok(Vec::new());
    }
    let field = value.sealed().field("value");
    let paths = sealcomb_columns::leaf_paths(&field);
    let tags = paths.iter().filter(|path| path.ends_with(TAG));
    let plain: Vec<String> = named.iter().chain(tags).cloned().collect();
    sealcomb_columns::sealed_leaves(&field, &plain).map_err(|error| error.to_string())?;
    for (path, leaf) in paths.iter().zip(value.leaves()) {
        if !matches!(leaf, SqlType::Blob | SqlType::Null) && !plain.contains(path) {
            return Err(not_sealed(path, leaf).into());
        }
    }
    Ok(plain)
}

fn not_sealed(path: &str, leaf: &SqlType) -> String {
    let leaf = leaf.sql();
    if path.is_empty() {
        format!("a sealed value is a BLOB, not {leaf}; if it is text, decode it with from_hex or from_base64")
    } else {
        format!(
            "the leaf {path:?} is {leaf}, but a sealed value is a BLOB: it may have been replaced; if it was never sealed, \
             pass plain := ['{path}']"
        )
    }
}

/// Returns the type of an opened value: `as_type`, or the value's, in which sealed leaves stay BLOB.
///
/// # Errors
/// `as_type` has another nesting than the value, or another type for a plain leaf.
pub(crate) fn opened(value: &SqlType, plain: &[String], as_type: Option<SqlType>) -> Result<SqlType> {
    let Some(as_type) = as_type else {
        let bytes = |leaf: &SqlType| if *leaf == SqlType::Null { SqlType::Blob } else { leaf.clone() };
        return Ok(value.with_leaves(&bytes));
    };
    if *value == SqlType::Null {
        return Ok(as_type);
    }
    if value.sealed() != as_type.sealed() {
        return Err(format!(
            "the value has type {}, and as_type is {}; they differ in lists, structs or maps, or in the names of fields",
            value.sql(),
            as_type.sql()
        )
        .into());
    }
    let paths = sealcomb_columns::leaf_paths(&value.field("value"));
    for ((path, leaf), opened) in paths.iter().zip(value.leaves()).zip(as_type.leaves()) {
        if (plain.contains(path) || *leaf != SqlType::Blob) && leaf.sql() != opened.sql() {
            return Err(format!(
                "the leaf {path:?} is {}, and plain, so that as_type cannot make it {}",
                leaf.sql(),
                opened.sql()
            )
            .into());
        }
    }
    Ok(as_type)
}
