//! What `swarm member` and `swarm admin` share: output, private files, progress, times.

mod output;
mod private_files;
mod progress;
mod shell;
mod times;

pub(crate) use output::{
    Output, cell, confirm, note, print_json, printable_line, read_input, shown, state_word, text_of,
};
pub(crate) use private_files::{
    check_name, configuration_folder, create_in_folder, create_private, read_private,
    read_private_json, read_private_object, replace_private,
};
pub(crate) use progress::Progress;
pub(crate) use shell::{flag, shell_word};
pub(crate) use times::{in_both_times, now, parse_past_time, parse_time};
