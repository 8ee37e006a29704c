//! Extracts the paths that a source file uses.

/// A name that a `use` statement imports.
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    pub(crate) name: String,
    pub(crate) visibility: Visibility,
}

/// Who sees an imported name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Private,
    /// A re-export within the crate, such as `pub(crate) use`.
    Restricted,
    Public,
}

impl Visibility {
    /// Of what stands before `use`; `None` if it is no statement.
    fn of(before: &str) -> Option<Self> {
        match before {
            "" => Some(Self::Private),
            "pub" => Some(Self::Public),
            _ => before.starts_with("pub").then_some(Self::Restricted),
        }
    }
}

/// The imports of a source file.
pub(crate) fn imports(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for (start, keyword) in code.match_indices("use ") {
        let before = code[..start].rsplit(['\n', ';']).next().unwrap_or_default().trim();
        if let Some(visibility) = Visibility::of(before) {
            let tree = code[start + keyword.len()..].split(';').next().unwrap_or_default();
            expand(tree, &[], visibility, &mut found);
        }
    }
    found
}

/// Expands a tree of imports.
fn expand(tree: &str, prefix: &[String], visibility: Visibility, found: &mut Vec<Import>) {
    if let Some((head, branches)) = tree.split_once('{') {
        let prefix: Vec<String> = prefix.iter().cloned().chain(segments(head)).collect();
        let branches = branches.rsplit_once('}').map_or(branches, |(inside, _)| inside);
        for branch in split_outside_braces(branches) {
            expand(branch, &prefix, visibility, found);
        }
        return;
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, it)| (path, Some(it)));
    let mut path: Vec<String> = prefix.iter().cloned().chain(segments(path)).collect();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    // Ignore globs: inline modules of tests and macros use them for their parent.
    if let Some(last) = path.last().filter(|last| *last != "*") {
        let name = alias.map_or(last.as_str(), str::trim).to_owned();
        found.push(Import { path, name, visibility });
    }
}

fn split_outside_braces(branches: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    branches.split(move |character| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    })
}

/// The paths outside of `use` statements.
pub(crate) fn inline(code: &str) -> impl Iterator<Item = Vec<String>> {
    let ends_path = |it: char| !it.is_alphanumeric() && !matches!(it, '_' | ':' | '$');
    let is_import = |line: &str| line.starts_with("use ") || line.starts_with("pub");
    let lines = code.split(['\n', ';']).filter(move |line| !is_import(line.trim_start()));
    let paths = lines.flat_map(move |line| line.split(ends_path));
    let paths = paths.filter(|it| it.contains("::") && !it.starts_with(['$', ':']));
    paths.filter(|path| !path.ends_with(':')).map(|path| segments(path).collect())
}

fn segments(path: &str) -> impl Iterator<Item = String> {
    path.split("::").map(str::trim).filter(|segment| !segment.is_empty()).map(str::to_owned)
}
