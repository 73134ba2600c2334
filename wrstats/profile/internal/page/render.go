package page

import (
	"bytes"
	"embed"
	"html/template"
	"net/url"
	"path"
	"sync"
	"time"
)

//go:embed web
var web embed.FS

// Asset returns the content and the type of one of the files beside the pages.
func Asset(name string) (content []byte, mediaType string, ok bool) {
	types := map[string]string{
		"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	}
	mediaType, ok = types[name]
	if !ok {
		return nil, "", false
	}
	content, err := web.ReadFile("web/" + name)
	return content, mediaType, err == nil
}

// A Frame is what all pages have around what they show.
type Frame struct {
	Title   string        // of the site
	Refresh time.Duration // 0: the page does not refresh itself
}

// RefreshMS is for the script.
func (f Frame) RefreshMS() int64 { return f.Refresh.Milliseconds() }

var functions = template.FuncMap{
	"label": Label, "number": anyNumber, "percent": percent, "duration": duration, "nanoseconds": nanoseconds, "clock": clock, "plural": plural,
	"instant": func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04:05 UTC") },
	"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"limit":   func(ns int64) string { return axis(float64(ns)) },
	"bar":     func(part float64) float64 { return round1(40 * part) },
}

// pages are the templates, each with the layout.
var pages = sync.OnceValue(func() map[string]*template.Template {
	all := make(map[string]*template.Template)
	for _, name := range []string{"overview", "rule", "reset", "message"} {
		t := template.New("layout.html").Funcs(functions)
		all[name] = template.Must(t.ParseFS(web, "web/layout.html", "web/parts.html", path.Join("web", name+".html")))
	}
	return all
})

// render returns a page whole, so that one that fails is not half sent.
func render(name string, view any) ([]byte, error) {
	var b bytes.Buffer
	err := pages()[name].Execute(&b, view)
	return b.Bytes(), err
}

// A Message is a page that says one thing, such as what is wrong.
type Message struct {
	Frame
	Heading string
	Text    string
	Details []string
}

// HTML renders a message.
func (m Message) HTML() ([]byte, error) { return render("message", m) }

// A Reset is the page that asks whether a rule is to be reset.
type Reset struct {
	Frame
	ID string
}

// HTML renders the question.
func (r Reset) HTML() ([]byte, error) { return render("reset", r) }

// Action is where the answer goes.
func (r Reset) Action() string { return "reset?id=" + url.QueryEscape(r.ID) }

// Back is where the rule's own page is.
func (r Reset) Back() string { return Link(r.ID) }

// Link is where a rule's own page is, from any page beside it.
func Link(id string) string { return "rule?id=" + url.QueryEscape(id) }
