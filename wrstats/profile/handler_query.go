package profile

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/wrstats/go-wrstats/wrstats/profile/internal/page"
)

// Bounds on what a request may ask for, in bytes.
const (
	maxID     = 4096
	maxSearch = 800
)

// A query is what a request asks for. Parameters that are not known are passed over.
type query struct {
	page.View
	id   string
	json bool
}

// parseQuery reads a request's parameters. What is wrong names the parameter,
// and never shows its value.
func parseQuery(r *http.Request) (q query, wrong string) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, "The query is not well-formed."
	}
	for name := range values {
		if len(values[name]) > 1 && slices.Contains([]string{"sort", "desc", "q", "id", "format"}, name) {
			return q, fmt.Sprintf("The parameter %s is there more than once.", name)
		}
	}
	q.Sort, q.Desc = values.Get("sort"), values.Get("desc") == "1"
	if !values.Has("sort") && !values.Has("desc") {
		q.Sort, q.Desc = page.DefaultSort, true
	}
	if q.Sort == "" {
		q.Sort = page.DefaultSort
	}
	q.Search, q.id, q.json = values.Get("q"), values.Get("id"), values.Get("format") == "json"
	return q, q.check(values)
}

func (q *query) check(values url.Values) (wrong string) {
	switch keys := page.SortKeys(); {
	case !slices.Contains(keys, q.Sort):
		return fmt.Sprintf("The parameter sort must be one of %s.", strings.Join(keys, ", "))
	case !slices.Contains([]string{"", "0", "1"}, values.Get("desc")):
		return "The parameter desc must be 0 or 1."
	case !slices.Contains([]string{"", "html", "json"}, values.Get("format")):
		return "The parameter format must be html or json."
	case len(q.Search) > maxSearch:
		return fmt.Sprintf("The parameter q is longer than %d bytes.", maxSearch)
	case len(q.id) > maxID:
		return fmt.Sprintf("The parameter id is longer than %d bytes.", maxID)
	}
	return ""
}

// parseRuleQuery is parseQuery for pages of one rule.
func parseRuleQuery(r *http.Request) (q query, wrong string) {
	if q, wrong = parseQuery(r); wrong == "" && q.id == "" {
		wrong = "The parameter id, a rule’s name, is missing."
	}
	return q, wrong
}

// linkTo is where the page of a rule is; "" where it can't be asked for.
func linkTo(id string) string {
	if len(id) > maxID {
		return ""
	}
	return page.Link(id)
}

func wantsJSON(r *http.Request) bool { return r.URL.Query().Get("format") == "json" }
