package page

import (
	"net/url"
	"strconv"
	"strings"
)

// A View is how an overview is asked for.
type View struct {
	Sort   string // a column's key
	Desc   bool
	Search string
}

// query is the view in a link's query. What is the default is left out.
func (v View) query() string {
	values := url.Values{}
	if v.Sort != DefaultSort || !v.Desc {
		values.Set("sort", v.Sort)
		if v.Desc {
			values.Set("desc", "1")
		}
	}
	if v.Search != "" {
		values.Set("q", v.Search)
	}
	return values.Encode()
}

// An overviewPage is what the template is given.
type overviewPage struct {
	Frame
	View
	*Overview
	state
	All     int // rules, with those that the search leaves out
	Slow    int // of All
	Runs    float64
	Matches float64
	Time    float64 // nanoseconds; an int64 may not hold it
}

// HTML renders the rules that a view has of an overview, in its order, and all the rest.
func (o *Overview) HTML(f Frame, v View) ([]byte, error) {
	p := overviewPage{Frame: f, View: v, Overview: o, state: newState(o), All: len(o.Rules)}
	for i := range o.Rules {
		r := &o.Rules[i]
		p.Runs += r.Runs
		p.Matches += r.Matches
		p.Time += float64(r.TimeNS)
		if r.Slow {
			p.Slow++
		}
	}
	shown := *o
	shown.Rules = o.Select(v)
	p.Overview = &shown
	return render("overview", p)
}

// Select returns the rules that a view has, in its order.
func (o *Overview) Select(v View) []Row {
	shown := make([]Row, 0, len(o.Rules))
	for _, r := range o.Rules {
		if Matches(r.ID, v.Search) {
			shown = append(shown, r)
		}
	}
	Sort(shown, v.Sort, v.Desc)
	return shown
}

// A header is a column's, with the link that sorts by it.
type header struct {
	column
	Link string
	Aria string // aria-sort; "": it is not sorted by
}

// Headers are those of the columns that there are, up to the sparkline and after it.
func (p overviewPage) Headers() []header {
	var headers []header
	for _, c := range columns {
		if c.Quantile && p.NoTimes {
			continue
		}
		h := header{column: c}
		next := View{Sort: c.Key, Desc: c.Key != "id" && c.Key != "complete", Search: p.Search}
		if c.Key == p.Sort {
			next.Desc = !p.Desc
			h.Aria = "ascending"
			if p.Desc {
				h.Aria = "descending"
			}
		}
		h.Link = "./?" + next.query()
		headers = append(headers, h)
	}
	return headers
}

// Columns is how many the table has.
func (p overviewPage) Columns() int { return len(p.Headers()) + 1 }

// SortParam says whether the order is not the default, and so is in links.
func (p overviewPage) SortParam() bool { return p.Sort != DefaultSort || !p.Desc }

// ClearLink is the view without its search.
func (p overviewPage) ClearLink() string { return "./?" + View{Sort: p.Sort, Desc: p.Desc}.query() }

// JSONLink is where the same is as JSON.
func (p overviewPage) JSONLink() string {
	return strings.TrimSuffix("./?format=json&"+p.query(), "&")
}

// HasTimes says whether a rule's quantiles are of something.
func (r *Rule) HasTimes() bool { return r.Runs > 0 && r.Unknown < 1 }

// Blind says whether the quantiles lack so many of the runs that it shows.
func (r *Rule) Blind() bool { return r.Runs > 0 && r.Unknown >= 0.0005 }

// Spark is the rule's sparkline.
func (r *Row) Spark() spark { return newSpark(r.RunsByWindow, r.incomplete) }

// Values are what the script sorts by, in the order of the columns.
func (r *Row) Values() string {
	var b []byte
	for i, c := range columns {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendFloat(b, c.value(r), 'f', -1, 64)
	}
	return string(b)
}

// Of says in words what the labels do, such as "server 192.0.2.1:11211, kind refused".
func (m Measured) Of() string {
	parts := make([]string, len(m.LabelNames))
	for i, name := range m.LabelNames {
		parts[i] = Label(name) + " " + Label(m.Labels[name])
	}
	return strings.Join(parts, ", ")
}

// Shown is the value.
func (m Measured) Shown() string {
	if m.Value == nil {
		return none
	}
	return number(*m.Value)
}

// Complete says in a few words what a rule's profile lacks; "" is nothing.
func (r *Rule) Complete(noTimes bool) string {
	if r.Incomplete == 0 && !noTimes && r.Blind() {
		return "times of " + percent(1-r.Unknown)
	}
	return complete(r.Found, r.Incomplete)
}

// Complete is that of a group.
func (g Group) Complete() string { return complete(g.Found, g.Incomplete) }

// complete says how many windows lack nothing; "" is all.
func complete(found, incomplete int) string {
	if incomplete == 0 {
		return ""
	}
	return strconv.Itoa(found-incomplete) + " of " + plural(found, "window", "windows")
}
