package html

// A tag is an element that means something for where text stands. All others are inline.
type tag uint8

const (
	inline tag = iota
	link
	lineBreak
	rule // between blocks, empty
	paragraph
	heading
	preformatted
	item // of a list
	row
	cell
	table
	list
	quote
	division // div, section and the like
	article
	mainPart
	header
	footer
	aside
	navigation
	dialog
	unseen // what is inside is not shown
	body
	title
	silent   // text without markup that is not shown
	verbatim // text without markup that is
	tags
)

// tagOf has the elements of HTML by their names.
var tagOf = map[string]tag{}

func init() {
	for t, names := range map[tag][]string{
		link:         {"a", "button"},
		lineBreak:    {"br"},
		rule:         {"hr", "tbody", "thead", "tfoot", "frameset", "legend", "optgroup"},
		paragraph:    {"p", "figcaption", "address", "summary", "caption"},
		heading:      {"h1", "h2", "h3", "h4", "h5", "h6"},
		preformatted: {"pre", "listing"},
		item:         {"li", "dt", "dd"},
		row:          {"tr"},
		cell:         {"td", "th"},
		table:        {"table"},
		list:         {"ul", "ol", "dl", "menu", "dir"},
		quote:        {"blockquote", "figure"},
		division:     {"div", "section", "center", "form", "fieldset", "details", "hgroup", "search"},
		article:      {"article"},
		mainPart:     {"main"},
		header:       {"header"},
		footer:       {"footer"},
		aside:        {"aside"},
		navigation:   {"nav"},
		dialog:       {"dialog"},
		unseen:       {"template", "select", "datalist", "svg", "math", "object", "canvas", "audio", "video", "map"},
		body:         {"body", "html"},
		title:        {"title"},
		silent:       {"script", "style", "noscript", "iframe", "noembed", "noframes", "textarea"},
		verbatim:     {"xmp", "plaintext"},
	} {
		for _, name := range names {
			tagOf[name] = t
			bucket := &named[name[0]&31][len(name)]
			*bucket = append(*bucket, namedTag{name, t})
		}
	}
}

// named has the same by first letter and length, where few stand together: a tag is looked
// up more often than anything else.
var named [32][longestName + 1][]namedTag

type namedTag struct {
	name string
	tag  tag
}

// isElement has the tags of which it matters what is in them.
var isElement = [tags]bool{
	item: true, row: true, cell: true, table: true, list: true, quote: true, division: true, article: true,
	mainPart: true, header: true, footer: true, aside: true, navigation: true, dialog: true, unseen: true,
}

// roles are the values of the attribute role that say the same as a tag.
var roles = map[string]tag{
	"navigation": navigation, "menu": navigation, "menubar": navigation, "tablist": navigation, "toolbar": navigation,
	"banner": header, "contentinfo": footer, "complementary": aside, "search": aside,
	"dialog": dialog, "alertdialog": dialog, "main": mainPart, "article": article,
}
