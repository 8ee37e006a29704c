//! The modules of a crate and their dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::slice::from_ref;

use crate::layering::paths::{Import, Visibility, imports, inline};
use crate::layering::without_comments;

/// The path of a module or an item from the root of its crate.
type Location = Vec<String>;

/// A dependency between two modules of the same folder: the user, then the used one.
pub(crate) type Arrow = [String; 2];

/// The name for the `mod.rs`, `lib.rs` or `main.rs` of a folder among its modules.
pub(crate) const ITSELF: &str = "itself";

/// The modules of a crate.
pub(crate) struct Modules {
    code: BTreeMap<Location, String>,
    /// The target of each imported name.
    imported: BTreeMap<(Location, String), Location>,
}

impl Modules {
    /// Reads the sources below a folder, without tests and comments.
    pub(crate) fn read(root: &Path) -> Self {
        let mut code = BTreeMap::new();
        read_folder(root, &Location::new(), &mut code);
        assert!(!code.is_empty(), "no sources in {root:?}");
        Self::new(code)
    }

    /// Builds it from the code of each module, by paths with slashes.
    pub(crate) fn of(code: &BTreeMap<&str, &str>) -> Self {
        let location = |name: &str| name.split_terminator('/').map(str::to_owned).collect();
        Self::new(code.iter().map(|(name, code)| (location(name), (*code).to_owned())).collect())
    }

    fn new(code: BTreeMap<Location, String>) -> Self {
        let mut modules = Self { code, imported: BTreeMap::new() };
        let mut imported = BTreeMap::new();
        for (module, code) in &modules.code {
            for Import { path, name, .. } in imports(code) {
                if let Some(target) = modules.absolute(module, &path) {
                    imported.insert((module.clone(), name), target);
                }
            }
        }
        modules.imported = imported;
        modules
    }

    /// The dependencies, by the folder that contains both modules.
    pub(crate) fn arrows(&self) -> BTreeMap<String, BTreeSet<Arrow>> {
        let mut arrows: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (from, to) in self.uses() {
            let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            let part = |module: &Location| module.get(shared).map_or(ITSELF, |it| it).to_owned();
            let arrow = [part(&from), part(&to)];
            if arrow[0] != arrow[1] {
                arrows.entry(from[..shared].join("/")).or_default().insert(arrow);
            }
        }
        arrows
    }

    /// Pairs of a module and one that it uses. A re-export is not a use.
    fn uses(&self) -> Vec<(Location, Location)> {
        let mut uses = Vec::new();
        for (module, code) in &self.code {
            let imports = imports(code).into_iter();
            let imports = imports.filter(|import| import.visibility == Visibility::Private);
            for path in imports.map(|import| import.path).chain(inline(code)) {
                if let Some(target) = self.absolute(module, &path) {
                    uses.push((module.clone(), self.definer(&target, 0)));
                }
            }
        }
        uses
    }

    /// The types that other crates can name, each with the module that defines it. A public item is one that is reachable,
    /// because the compiler warns of any other (`unreachable_pub`). Those that a macro defines are found by their re-exports.
    pub(crate) fn public_types(&self) -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for (module, code) in &self.code {
            for name in code.lines().filter_map(declared_type) {
                found.insert((name.to_owned(), module.join("/")));
            }
            for Import { path, name, visibility } in imports(code) {
                if visibility == Visibility::Public
                    && is_type(&name)
                    && let Some(target) = self.absolute(module, &path)
                {
                    found.insert((name, self.definer(&target, 0).join("/")));
                }
            }
        }
        found
    }

    /// A path from the root of the crate; `None` when it leads out of the crate.
    fn absolute(&self, module: &Location, path: &[String]) -> Option<Location> {
        let (first, rest) = path.split_first()?;
        let mut base = match first.as_str() {
            "crate" => Location::new(),
            "self" => module.clone(),
            "super" => module.split_last()?.1.to_vec(),
            _ => {
                let child = [&module[..], &path[..1]].concat();
                return self.code.contains_key(&child).then(|| [&child, rest].concat());
            }
        };
        let further = rest.iter().take_while(|name| *name == "super").count();
        base.truncate(base.len().checked_sub(further)?);
        base.extend_from_slice(&rest[further..]);
        Some(base)
    }

    /// The module that defines the item at a location, following re-exports.
    fn definer(&self, location: &[String], steps: usize) -> Location {
        let mut module = Location::new();
        for (at, name) in location.iter().enumerate() {
            let child = [&module[..], from_ref(name)].concat();
            if self.code.contains_key(&child) {
                module = child;
                continue;
            }
            return match self.imported.get(&(module.clone(), name.clone())) {
                Some(target) if steps < 9 => {
                    self.definer(&[target, &location[at + 1..]].concat(), steps + 1)
                }
                _ => module,
            };
        }
        module
    }
}

/// The name of the type that a line declares as public.
fn declared_type(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix("pub ")?;
    let (keyword, rest) = line.split_once(' ')?;
    let name = rest.split(|it: char| !it.is_alphanumeric()).next()?;
    let is_declared = ["struct", "enum", "union", "trait", "type"].contains(&keyword);
    (is_declared && is_type(name)).then_some(name)
}

fn is_type(name: &str) -> bool {
    name.starts_with(|first: char| first.is_uppercase()) && name.contains(char::is_lowercase)
}

fn read_folder(folder: &Path, module: &Location, code: &mut BTreeMap<Location, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = [&module[..], from_ref(&name)].concat();
        // Binaries are separate crates.
        if path.is_dir() && name != "bin" {
            read_folder(&path, &inner, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = without_comments(&fs::read_to_string(&path).unwrap());
            let text = text.split("\nmod tests {").next().unwrap_or_default();
            let root = ["mod", "lib", "main"].contains(&name.as_str());
            code.insert(if root { module.clone() } else { inner }, text.to_owned());
        }
    }
}
