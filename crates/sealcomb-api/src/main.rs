//! Prints the public items of the library, one per line, from two files that rustdoc wrote.
//!
//! ```text
//! usage: sealcomb-api DEFAULT ALL
//! ```
//!
//! `DEFAULT` describes the library with its default features, `ALL` with all. An item that requires another feature
//! begins with `+`, and one that features remove or change with `-`. An implementation of a trait is one item.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::env;
use std::path::Path;

use anyhow::{Context, Result, bail};
use public_api::Builder;

/// Traits that no caller relies on. `Send` and `Sync` remain.
const NOISE: [&str; 6] =
    ["Freeze", "RefUnwindSafe", "StructuralPartialEq", "Unpin", "UnsafeUnpin", "UnwindSafe"];

/// Leaves out the members of implementations, which the trait defines, and items that are listed twice.
fn reduced(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut found = HashSet::new();
    let mut kept = Vec::new();
    // The type of the implementation that the current items belong to.
    let mut implementing: Option<String> = None;
    for item in items {
        if item.starts_with("impl") {
            implementing =
                item.split_once(" for ").map(|(_, of)| of.split(" where ").next().unwrap().to_owned());
            if NOISE.iter().any(|name| item.contains(&format!("::{name} for "))) {
                continue;
            }
        } else if implementing.as_ref().is_some_and(|of| item.contains(&format!(" {of}::"))) {
            continue;
        } else {
            implementing = None;
        }
        if found.insert(item.clone()) {
            kept.push(item);
        }
    }
    kept
}

fn items(file: &Path) -> Result<Vec<String>> {
    let api = Builder::from_rustdoc_json(file)
        .omit_blanket_impls(true)
        .include_function_parameter_names(true)
        .build()
        .with_context(|| file.display().to_string())?;
    Ok(reduced(api.items().map(ToString::to_string)))
}

/// Marks the items of `all` that are not among the default ones, and the default ones that `all` lacks.
fn marked(default: &[String], all: &[String]) -> Vec<String> {
    let lacks = |items: &[String], item: &String| !items.contains(item);
    let added = all.iter().map(|item| format!("{} {item}", if lacks(default, item) { '+' } else { ' ' }));
    let removed = default.iter().filter(|item| lacks(all, item)).map(|item| format!("- {item}"));
    added.chain(removed).collect()
}

fn main() -> Result<()> {
    let [_, default, all] = &env::args().collect::<Vec<_>>()[..] else {
        bail!("expected two files that rustdoc wrote");
    };
    for item in marked(&items(Path::new(default))?, &items(Path::new(all))?) {
        println!("{item}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(items: &[&str]) -> Vec<String> {
        items.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn members_of_traits_and_repetitions_are_left_out() {
        let items = owned(&[
            "pub struct a::Key<'a>(_)",
            "impl<'a> a::Key<'a>",
            "pub fn a::Key<'a>::seal(&self)",
            "impl<'a> core::clone::Clone for a::Key<'a>",
            "pub fn a::Key<'a>::clone(&self) -> a::Key<'a>",
            "impl<'a> core::marker::Send for a::Key<'a> where &'a u8: core::marker::Send",
            "impl<'a> core::marker::Freeze for a::Key<'a>",
            "pub fn a::open(key: a::Key<'_>)",
            "pub fn a::open(key: a::Key<'_>)",
        ]);
        let kept: Vec<String> = [0, 1, 2, 3, 5, 7].map(|index: usize| items[index].clone()).into();
        assert_eq!(reduced(items.into_iter()), kept);
    }

    #[test]
    fn items_that_depend_on_features_are_marked() {
        let default = owned(&["pub fn a::open()", "pub fn a::seal()"]);
        let all = owned(&["pub fn a::open()", "pub fn a::seal(key: u8)"]);
        let expected = owned(&["  pub fn a::open()", "+ pub fn a::seal(key: u8)", "- pub fn a::seal()"]);
        assert_eq!(marked(&default, &all), expected);
    }
}
