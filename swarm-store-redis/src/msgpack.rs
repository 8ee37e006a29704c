//! MessagePack, as far as this crate and its scripts exchange it.

/// Writes values one after another.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Begins a list of as many values.
    pub(crate) fn list(&mut self, length: usize) -> &mut Self {
        match length {
            0..16 => self.0.push(0x90 | low_byte(length)),
            16..0x1_0000 => self.head(0xdc, 2, length),
            _ => self.head(0xdd, 4, length),
        }
        self
    }

    /// Begins a map of as many keys and values.
    pub(crate) fn map(&mut self, length: usize) -> &mut Self {
        self.head(0xde, 2, length);
        self
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        match bytes.len() {
            length @ 0..32 => self.0.push(0xa0 | low_byte(length)),
            length @ 32..0x100 => self.head(0xd9, 1, length),
            length @ 0x100..0x1_0000 => self.head(0xda, 2, length),
            length => self.head(0xdb, 4, length),
        }
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// A number that a script calculates with; it should be less than 2^53.
    pub(crate) fn number(&mut self, number: i64) -> &mut Self {
        match u8::try_from(number) {
            Ok(small) if small < 0x80 => self.0.push(small),
            _ => {
                self.0.push(0xd3);
                self.0.extend(number.to_be_bytes());
            }
        }
        self
    }

    pub(crate) fn size(&mut self, size: usize) -> &mut Self {
        self.number(i64::try_from(size).unwrap_or(i64::MAX))
    }

    pub(crate) fn flag(&mut self, flag: bool) -> &mut Self {
        self.0.push(if flag { 0xc3 } else { 0xc2 });
        self
    }

    /// Bytes, or `false`.
    pub(crate) fn bytes_if_any(&mut self, bytes: Option<&[u8]>) -> &mut Self {
        match bytes {
            Some(bytes) => self.bytes(bytes),
            None => self.flag(false),
        }
    }

    /// Values that are written already.
    pub(crate) fn append(&mut self, values: Self) -> &mut Self {
        self.0.extend(values.0);
        self
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn head(&mut self, kind: u8, width: usize, length: usize) {
        self.0.push(kind);
        let bytes = length.to_be_bytes();
        self.0.extend(bytes.iter().skip(bytes.len() - width));
    }
}

fn low_byte(length: usize) -> u8 {
    length.to_le_bytes().first().copied().unwrap_or(0)
}

/// Reads values one after another. Each method returns `None` for a value of another type.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Begins a list; returns its length.
    pub(crate) fn list(&mut self) -> Option<usize> {
        match self.take(1)? {
            [kind @ 0x90..=0x9f] => Some(usize::from(kind & 0x0f)),
            [0xdc] => self.length(2),
            [0xdd] => self.length(4),
            _ => None,
        }
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = match self.take(1)? {
            [kind @ 0xa0..=0xbf] => usize::from(kind & 0x1f),
            [0xd9] => self.length(1)?,
            [0xda] => self.length(2)?,
            [0xdb] => self.length(4)?,
            _ => return None,
        };
        self.take(length)
    }

    /// Bytes, or `Some(None)` for `false`.
    pub(crate) fn bytes_if_any(&mut self) -> Option<Option<&'a [u8]>> {
        if self.next_is(0xc2) { Some(None) } else { self.bytes().map(Some) }
    }

    pub(crate) fn number(&mut self) -> Option<i64> {
        let signed = |bytes: &[u8]| {
            let fill = if bytes.first()? & 0x80 == 0 { 0 } else { 0xff };
            Some(i64::from_be_bytes(extended(bytes, fill)?))
        };
        match self.take(1)? {
            [small @ 0x00..=0x7f] => Some(i64::from(*small)),
            [negative @ 0xe0..=0xff] => Some(i64::from(negative.cast_signed())),
            [kind @ 0xcc..=0xcf] => {
                let bytes = self.take(1 << (kind - 0xcc))?;
                i64::try_from(u64::from_be_bytes(extended(bytes, 0)?)).ok()
            }
            [kind @ 0xd0..=0xd3] => signed(self.take(1 << (kind - 0xd0))?),
            _ => None,
        }
    }

    /// A number, or `Some(None)` for `false`.
    pub(crate) fn number_if_any(&mut self) -> Option<Option<i64>> {
        if self.next_is(0xc2) { Some(None) } else { self.number().map(Some) }
    }

    /// Whether the next value is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.0.first(), Some(0x90..=0x9f | 0xdc | 0xdd))
    }

    /// Whether the next value is bytes.
    pub(crate) fn is_bytes(&self) -> bool {
        matches!(self.0.first(), Some(0xa0..=0xbf | 0xd9..=0xdb))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn next_is(&mut self, kind: u8) -> bool {
        let is = self.0.first() == Some(&kind);
        if is {
            self.0 = self.0.get(1..).unwrap_or_default();
        }
        is
    }

    fn length(&mut self, width: usize) -> Option<usize> {
        let bytes = self.take(width)?;
        usize::try_from(u64::from_be_bytes(extended(bytes, 0)?)).ok()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

/// Eight bytes that end with these.
fn extended(bytes: &[u8], fill: u8) -> Option<[u8; 8]> {
    let mut all = [fill; 8];
    let room = all.len().checked_sub(bytes.len())?;
    all.get_mut(room..)?.copy_from_slice(bytes);
    Some(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails panics")]

    use super::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        for length in [0, 1, 31, 32, 255, 256, 65_535, 65_536, 70_000] {
            let (mut written, bytes) = (Writer::default(), vec![7; length]);
            written.list(length).bytes(&bytes).bytes_if_any(None).flag(true);
            let written = written.into_bytes();
            let mut read = Reader::of(&written);
            assert!(read.is_list());
            assert_eq!(read.list(), Some(length));
            assert!(read.is_bytes());
            assert_eq!(read.bytes(), Some(&*bytes));
            assert_eq!(read.bytes_if_any(), Some(None));
            assert_eq!(read.number(), None);
        }
        for number in [0, 127, 128, 255, 256, -1, -32, -33, 1 << 40, i64::MIN, i64::MAX] {
            let mut written = Writer::default();
            written.number(number);
            assert_eq!(Reader::of(&written.into_bytes()).number(), Some(number));
        }
        // As scripts write them.
        for (bytes, number) in [
            (&[0xcc, 0x80][..], 128),
            (&[0xcd, 0x01, 0x00], 256),
            (&[0xce, 0, 1, 0, 0], 65_536),
            (&[0xcf, 0, 0, 0, 1, 0, 0, 0, 0], 1 << 32),
            (&[0xd0, 0x80], -128),
            (&[0xd1, 0xff, 0x00], -256),
            (&[0xe0], -32),
        ] {
            assert_eq!(Reader::of(bytes).number(), Some(number));
        }
    }

    #[test]
    fn cut_value_is_none() {
        let mut written = Writer::default();
        written.bytes(&[1; 300]);
        let written = written.into_bytes();
        for length in 0..written.len() {
            assert_eq!(Reader::of(&written[..length]).bytes(), None);
        }
    }
}
