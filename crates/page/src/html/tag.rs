//! Identifies elements, and describes how each one is handled.
//!
//! **Invariant:** identification needs no allocation, no string comparison and no chain of
//! branches. A name of up to eight bytes *is* its key; a longer one is hashed. A perfect hash
//! table describes the known elements. An unknown name with the key of a known one is treated as
//! that element, which affects only its own page.

use super::tokenizer::ContentModel;

/// The key of an element or attribute name, independent of case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NameKey(pub u64);

/// The bits that convert eight ASCII letters to lower case. They also turn control characters into
/// digits and signs, so that `h` with U+0011 has the key of `h1`. This affects only its own page.
pub(crate) const LOWER: u64 = 0x2020_2020_2020_2020;

impl NameKey {
    /// Returns the key of a name in any case.
    pub(crate) const fn of(name: &[u8]) -> Self {
        let mut key: u64 = 0;
        let mut i = 0;
        if name.len() <= 8 {
            while i < name.len() {
                key |= ((name[i] | 0x20) as u64) << (8 * i);
                i += 1;
            }
            return Self(key);
        }
        // FNV-1a. The top bit keeps long names apart from short ASCII ones.
        key = 0xcbf2_9ce4_8422_2325;
        while i < name.len() {
            key = (key ^ (name[i] | 0x20) as u64).wrapping_mul(0x0100_0000_01b3);
            i += 1;
        }
        Self(key | 1 << 63)
    }
}

/// How an element affects the flow of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextFlow {
    /// Its text joins the words around it.
    Inline,
    /// It starts and ends a line.
    Block,
    /// It is a table cell: separated by a space from its neighbour on the same line.
    Cell,
    /// It has no content and no end tag.
    Void,
    /// It has no content and ends a line (`br`, `hr`).
    Break,
}

/// The role of an element, which decides what the reader does at its start tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The reader does nothing special.
    Plain,
    /// It may start a link (`a`).
    Anchor,
    /// It links without anchor text (`area`, `iframe`, `frame`).
    Document,
    /// Its `alt` text may be anchor text (`img`).
    Image,
    /// It relates the page to another document (`link`).
    Relation,
    /// It states metadata (`meta`).
    Meta,
    /// It sets the base of relative links (`base`).
    Base,
    /// It is the root (`html`).
    Html,
    /// Its content is not shown (`template`, `noscript`).
    Hidden,
    /// It is a drawing (`svg`).
    Svg,
    /// Its content is not markup (`script`, `title` …).
    Raw,
}

/// How an element is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ElementInfo {
    pub(crate) flow: TextFlow,
    pub(crate) role: Role,
}

/// How an unknown element is handled.
const UNKNOWN: ElementInfo = ElementInfo {
    flow: TextFlow::Inline,
    role: Role::Plain,
};

const SLOTS: usize = 512;

/// A multiplier without collisions, found by trying random odd numbers. The table checks this at
/// compile time.
const SPREAD: u64 = 0x54d5_2589_9ea3_d50f;

const fn slot(name: NameKey) -> usize {
    (name.0.wrapping_mul(SPREAD) >> (64 - SLOTS.trailing_zeros())) as usize
}

macro_rules! elements {
    ($($constant:ident = $name:literal: $flow:ident $role:ident,)*) => {
        $(pub(crate) const $constant: NameKey = NameKey::of($name.as_bytes());)*

        static ELEMENTS: [(NameKey, ElementInfo); SLOTS] = {
            let mut table = [(NameKey(0), UNKNOWN); SLOTS];
            $(
                assert!(table[slot($constant)].0.0 == 0, "two elements in one slot: choose another SPREAD");
                table[slot($constant)] = ($constant, ElementInfo { flow: TextFlow::$flow, role: Role::$role });
            )*
            table
        };
    };
}

elements! {
    A = "a": Inline Anchor,
    ADDRESS = "address": Block Plain,
    AREA = "area": Void Document,
    ARTICLE = "article": Block Plain,
    ASIDE = "aside": Block Plain,
    B = "b": Inline Plain,
    BASE = "base": Void Base,
    BASEFONT = "basefont": Void Plain,
    BGSOUND = "bgsound": Void Plain,
    BIG = "big": Inline Plain,
    BLOCKQUOTE = "blockquote": Block Plain,
    BODY = "body": Block Plain,
    BR = "br": Break Plain,
    CAPTION = "caption": Block Plain,
    CENTER = "center": Block Plain,
    CODE = "code": Inline Plain,
    COL = "col": Void Plain,
    DD = "dd": Block Plain,
    DETAILS = "details": Block Plain,
    DIALOG = "dialog": Block Plain,
    DIR = "dir": Block Plain,
    DIV = "div": Block Plain,
    DL = "dl": Block Plain,
    DT = "dt": Block Plain,
    EM = "em": Inline Plain,
    EMBED = "embed": Void Plain,
    FIELDSET = "fieldset": Block Plain,
    FIGCAPTION = "figcaption": Block Plain,
    FIGURE = "figure": Block Plain,
    FONT = "font": Inline Plain,
    FOOTER = "footer": Block Plain,
    FOREIGN_OBJECT = "foreignobject": Inline Plain,
    FORM = "form": Block Plain,
    FRAME = "frame": Void Document,
    FRAMESET = "frameset": Block Plain,
    H1 = "h1": Block Plain,
    H2 = "h2": Block Plain,
    H3 = "h3": Block Plain,
    H4 = "h4": Block Plain,
    H5 = "h5": Block Plain,
    H6 = "h6": Block Plain,
    HEAD = "head": Block Plain,
    HEADER = "header": Block Plain,
    HGROUP = "hgroup": Block Plain,
    HR = "hr": Break Plain,
    HTML = "html": Block Html,
    I = "i": Inline Plain,
    IFRAME = "iframe": Inline Document,
    IMG = "img": Void Image,
    INPUT = "input": Void Plain,
    KEYGEN = "keygen": Void Plain,
    LEGEND = "legend": Block Plain,
    LI = "li": Block Plain,
    LINK = "link": Void Relation,
    LISTING = "listing": Block Plain,
    MAIN = "main": Block Plain,
    MENU = "menu": Block Plain,
    META = "meta": Void Meta,
    NAV = "nav": Block Plain,
    NOBR = "nobr": Inline Plain,
    NOEMBED = "noembed": Inline Raw,
    NOFRAMES = "noframes": Inline Raw,
    NOSCRIPT = "noscript": Inline Hidden,
    OL = "ol": Block Plain,
    OPTGROUP = "optgroup": Block Plain,
    OPTION = "option": Block Plain,
    P = "p": Block Plain,
    PARAM = "param": Void Plain,
    PLAINTEXT = "plaintext": Block Raw,
    PRE = "pre": Block Plain,
    S = "s": Inline Plain,
    SCRIPT = "script": Inline Raw,
    SEARCH = "search": Block Plain,
    SECTION = "section": Block Plain,
    SMALL = "small": Inline Plain,
    SOURCE = "source": Void Plain,
    STRIKE = "strike": Inline Plain,
    STRONG = "strong": Inline Plain,
    STYLE = "style": Inline Raw,
    SUMMARY = "summary": Block Plain,
    SVG = "svg": Inline Svg,
    TABLE = "table": Block Plain,
    TBODY = "tbody": Block Plain,
    TD = "td": Cell Plain,
    TEMPLATE = "template": Inline Hidden,
    TEXTAREA = "textarea": Inline Raw,
    TFOOT = "tfoot": Block Plain,
    TH = "th": Cell Plain,
    THEAD = "thead": Block Plain,
    TITLE = "title": Inline Raw,
    TR = "tr": Block Plain,
    TRACK = "track": Void Plain,
    TT = "tt": Inline Plain,
    U = "u": Inline Plain,
    UL = "ul": Block Plain,
    WBR = "wbr": Void Plain,
    XMP = "xmp": Block Raw,
}

/// Returns how an element is handled.
#[inline]
pub(crate) fn element(name: NameKey) -> ElementInfo {
    let (known, element) = ELEMENTS[slot(name)];
    if known == name { element } else { UNKNOWN }
}

/// Returns how the tokenizer must read the content of the element (WHATWG 13.2.6, scripting
/// disabled).
#[inline]
pub(crate) fn model(tag: NameKey, role: Role) -> ContentModel {
    match tag {
        _ if !matches!(role, Role::Raw | Role::Document) => ContentModel::Data,
        SCRIPT => ContentModel::Script,
        STYLE | XMP | IFRAME | NOEMBED | NOFRAMES => ContentModel::RawText,
        TITLE | TEXTAREA => ContentModel::RcData,
        PLAINTEXT => ContentModel::PlainText,
        _ => ContentModel::Data,
    }
}

/// Returns whether this is a formatting element of WHATWG 13.2.4.2, which a tree builder reopens
/// in later blocks.
pub(crate) fn is_formatting(tag: NameKey) -> bool {
    matches!(
        tag,
        A | B | BIG | CODE | EM | FONT | I | NOBR | S | SMALL | STRIKE | STRONG | TT | U
    )
}

/// Returns whether a start tag of `starting`, with this flow, closes an open `open` element.
/// These are the end tags that HTML lets authors omit.
pub(crate) fn ends(starting: NameKey, flow: TextFlow, open: NameKey) -> bool {
    match open {
        P => flow == TextFlow::Block && !matches!(starting, OPTION | OPTGROUP | BODY | HTML),
        LI => starting == LI,
        DD | DT => matches!(starting, DD | DT),
        OPTION => matches!(starting, OPTION | OPTGROUP),
        TD | TH => matches!(starting, TD | TH | TR | TBODY | TFOOT | THEAD),
        TR => matches!(starting, TR | TBODY | TFOOT | THEAD),
        TBODY | THEAD | TFOOT => matches!(starting, TBODY | TFOOT | THEAD),
        HEAD => starting == BODY,
        _ => false,
    }
}

/// Returns whether the search for omitted end tags stops at this element.
pub(crate) fn is_scope(tag: NameKey) -> bool {
    matches!(
        tag,
        UL | OL | MENU | DL | TABLE | TEMPLATE | DIV | SECTION | ARTICLE | NAV | FORM
    )
}

/// Returns whether this HTML element cannot occur in SVG, so that its start ends an unclosed
/// `svg` (WHATWG 13.2.6.5, elements that break out of foreign content).
pub(crate) fn leaves_svg(tag: NameKey) -> bool {
    matches!(element(tag).flow, TextFlow::Block | TextFlow::Break)
        || matches!(tag, IMG | META | EMBED)
        || is_formatting(tag) && !matches!(tag, A | FONT)
}
