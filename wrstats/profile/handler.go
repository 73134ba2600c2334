package profile

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/wrstats/go-wrstats/wrstats"
	"github.com/wrstats/go-wrstats/wrstats/profile/internal/page"
)

// The defaults of [HandlerOptions].
const (
	DefaultPageTitle    = "Rule profile"
	DefaultPageMaxRules = 2000
	DefaultPageRefresh  = 5 * time.Second
	DefaultPageTimeout  = 10 * time.Second
)

// HandlerOptions tune [Handler]. The zero value is right for a process that records what it shows. No value is
// refused: what is negative is as 0, Refresh aside. Requests call the functions at the same time.
type HandlerOptions struct {
	Title string // what the pages are headed; "": DefaultPageTitle

	// Rules and Groups give the names of rules and groups besides those that this process has recorded: of a
	// configuration, say, when other processes record. nil: none. When one fails, its error is shown, and what is
	// known otherwise.
	Rules, Groups func(context.Context) ([]string, error)

	// Store is the one whose own counters are shown, if it is [wrstats.Measured], as all backends of this module
	// are; the profile comes from the Profiler's, be it this one or not. nil: none are shown.
	Store wrstats.Store

	// Reset says whether a request may reset a rule: nil lets it, and the text of an error is shown. Requests from
	// other sites never get that far. With no Reset the pages are read-only.
	Reset func(*http.Request) error

	Slow     time.Duration    // a rule is marked whose mean or p95 is over it; 0: the Profiler's SlowRun
	MaxRules int              // most rules read for a page; 0: DefaultPageMaxRules
	Refresh  time.Duration    // how often a page with scripts reads again; 0: DefaultPageRefresh; negative or under 1 ms: never
	Timeout  time.Duration    // bound on one read, or reset; 0: DefaultPageTimeout
	Now      func() time.Time // as of when to read, for a profile of another time; nil: time.Now
}

func (o HandlerOptions) withDefaults(p *Profiler) HandlerOptions {
	if o.Title == "" {
		o.Title = DefaultPageTitle
	}
	if o.Slow <= 0 {
		o.Slow = p.opts.SlowRun
	}
	if o.MaxRules <= 0 {
		o.MaxRules = DefaultPageMaxRules
	}
	if o.Refresh == 0 {
		o.Refresh = DefaultPageRefresh
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultPageTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Handler returns pages that show a profile: all rules and groups, and one rule with its windows. They are plain
// HTML; a browser with scripts refreshes them. Mount it at a path that ends in a slash, with or without
// [http.StripPrefix]:
//
//	mux.Handle("/debug/rules/", profile.Handler(p, profile.HandlerOptions{}))
//
// A rule whose name is over 4,096 bytes is on the overview alone: its name is no link, and what asks for its page, or to
// reset it, is refused. [Profiler.Reset] resets it.
//
// As with net/http/pprof, who may see it is for the caller to say. A page costs one read of the store, of as many keys
// as [QuantileOptions] says, and writes nothing: what was recorded and not flushed yet is not in it.
//
// With ?format=json a page is a JSON object, whose times are nanoseconds in fields that end in _ns, whose parts
// (match_rate, time_share, quantiles_unknown, share) are 0 to 1, and whose instants are RFC 3339. Both pages have:
//
//	read, from         the range
//	step_ns            width of a window
//	partial, problems  whether some servers did not answer; texts of what went wrong
//	slow_over_ns       what a rule is slow over
//	quantiles_are_off
//
// The overview has rules (in the order and selection that ?sort=, ?desc=1 and ?q= ask for), rules_not_shown, groups,
// windows (starts of the last ones), writer, a list of name and value, and store, a list of name, labels (an object of
// texts) and value (null where it is no finite number). A rule has
//
//	id, page           its name, and a relative link to its page, with the name's very bytes, if there is one
//	runs, matches, match_rate, conditions, mean_conditions
//	time_ns, mean_ns, p50_ns, p95_ns, p99_ns
//	time_share         its part of the time of all rules read
//	windows_found      windows that have a counter at least
//	windows_incomplete those of them that have some and not others
//	quantiles_unknown  Rule.Unknown
//	slow
//	runs_by_window     as long as windows; null where nothing was found
//
// and a group has id, actions, overflows, matches, conditions, mean_conditions, time_ns, mean_ns, windows_found and
// windows_incomplete. A rule's page has rule, as above, and windows, the oldest first: start, share (the part of it in
// the range), runs, matches, conditions, time_ns, p50_ns, p95_ns, p99_ns, found, incomplete and quantiles_unknown. An
// error is an object with error, a text, and details, a list of texts.
func Handler(p *Profiler, opts HandlerOptions) http.Handler {
	return &handler{profiler: p, opts: opts.withDefaults(p), crossOrigin: http.NewCrossOriginProtection()}
}

type handler struct {
	profiler    *Profiler
	opts        HandlerOptions
	crossOrigin *http.CrossOriginProtection
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	serve := h.route(name)
	switch {
	case serve == nil:
		h.fail(w, r, http.StatusNotFound, "There is no such page", "The pages are all rules, and one rule.")
	case !allowed(r.Method, name):
		w.Header().Set("Allow", allow(name))
		h.fail(w, r, http.StatusMethodNotAllowed, "That can only be read", "The request’s method is not one that this page takes.")
	case name == "" && !strings.HasSuffix(pathAsSent(r), "/"):
		redirectToSlash(w, r)
	default:
		serve(w, r)
	}
}

// route returns what serves the last part of a path, or nil.
func (h *handler) route(name string) http.HandlerFunc {
	switch name {
	case "":
		return h.overview
	case "rule":
		return h.rule
	case "reset":
		if h.opts.Reset == nil {
			return nil
		}
		return h.reset
	}
	content, mediaType, ok := page.Asset(name)
	if !ok {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) { send(w, http.StatusOK, mediaType, content) }
}

func allowed(method, name string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodPost && name == "reset"
}

func allow(name string) string {
	if name == "reset" {
		return "GET, HEAD, POST"
	}
	return "GET, HEAD"
}

// setHeaders lets a page use nothing but the files beside it, and be used by no other. A same-origin referrer rather
// than none, since without it browsers hide the origin of a form on sites without TLS.
func setHeaders(header http.Header) {
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
}

// pathAsSent is the path of the request before [http.StripPrefix], which links are relative to.
func pathAsSent(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if path == "" {
		return "/"
	}
	return path
}

// redirectToSlash goes to the same path with a slash, without which relative links would lead elsewhere.
func redirectToSlash(w http.ResponseWriter, r *http.Request) {
	path := pathAsSent(r)
	to := "./" + path[strings.LastIndexByte(path, '/')+1:] + "/"
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusMovedPermanently)
}

func (h *handler) frame() page.Frame {
	return page.Frame{Title: h.opts.Title, Refresh: max(0, h.opts.Refresh)}
}

func send(w http.ResponseWriter, status int, mediaType string, content []byte) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	_, _ = bytes.NewReader(content).WriteTo(w) // the client may be gone
}
