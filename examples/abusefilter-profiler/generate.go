package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// The embedded stream: two hours of made-up edits, the same in each run.
const (
	generatedEdits  = 6000
	generatedLength = 2 * time.Hour
)

var generatedStart = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// generate returns the embedded stream as JSON lines of the wikiticker format.
func generate() []byte {
	g := generator{rand.New(rand.NewPCG(2024, 3))}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range generatedEdits {
		slot := generatedLength / generatedEdits
		at := generatedStart.Add(time.Duration(i)*slot + time.Duration(g.Int64N(int64(slot))))
		edit := g.edit()
		edit.Time = at.Format("2006-01-02T15:04:05.000Z")
		_ = encoder.Encode(edit) // a struct of strings and numbers into memory
	}
	return lines.Bytes()
}

// A tickerLine is one edit of the wikiticker format.
type tickerLine struct {
	Time        string `json:"time"`
	Channel     string `json:"channel"`
	Namespace   string `json:"namespace"`
	Page        string `json:"page"`
	User        string `json:"user"`
	Comment     string `json:"comment"`
	IsAnonymous bool   `json:"isAnonymous"`
	IsMinor     bool   `json:"isMinor"`
	IsNew       bool   `json:"isNew"`
	IsRobot     bool   `json:"isRobot"`
	Added       int    `json:"added"`
	Deleted     int    `json:"deleted"`
	Delta       int    `json:"delta"`
}

// A generator makes up edits.
type generator struct{ *rand.Rand }

// edit makes up one edit of one of the kinds, each as often as its share of 100 says.
func (g generator) edit() tickerLine {
	line := tickerLine{Channel: pick(g, channels), Namespace: "Main"}
	line.Page = pick(g, subjects)
	switch n := g.IntN(100); {
	case n < 22:
		g.bot(&line)
	case n < 80:
		g.editor(&line)
	case n < 90:
		g.vandal(&line)
	case n < 94:
		g.blanking(&line)
	case n < 97:
		g.spammer(&line)
	default:
		g.newcomer(&line)
	}
	line.Delta = line.Added - line.Deleted
	return line
}

func (g generator) bot(line *tickerLine) {
	line.User = pick(g, botNames)
	line.Comment = pick(g, botSummaries)
	line.IsRobot, line.IsMinor = g.IntN(50) > 0, g.IntN(4) > 0
	line.Added, line.Deleted = g.IntN(120), g.IntN(80)
}

func (g generator) editor(line *tickerLine) {
	line.User = fmt.Sprintf("Editor%d", g.IntN(400))
	if g.IntN(5) == 0 {
		g.anonymous(line)
	}
	g.place(line)
	line.Comment = pick(g, summaries)
	if g.IntN(3) == 0 {
		line.Comment = "/* " + pick(g, sections) + " */ " + line.Comment
	}
	line.IsMinor = g.IntN(4) == 0
	line.Added, line.Deleted = g.IntN(900), g.IntN(300)
	if g.IntN(30) == 0 {
		line.Added += 2000 // whatever its summary says
	}
}

// vandal writes rude, loud or random words, mostly without an account.
func (g generator) vandal(line *tickerLine) {
	line.User = pick(g, vandalNames)
	if g.IntN(10) < 7 {
		g.anonymous(line)
	}
	line.Comment = pick(g, vandalSummaries)
	if g.IntN(3) == 0 {
		line.Comment = strings.ToUpper(line.Comment) + strings.Repeat("!", 1+g.IntN(12))
	}
	line.Added = g.IntN(400)
	if line.Comment == "" {
		line.Added = 1 + g.IntN(15)
	}
}

func (g generator) blanking(line *tickerLine) {
	line.User = fmt.Sprintf("Newbie%d", g.IntN(90))
	if g.IntN(10) < 8 {
		g.anonymous(line)
	}
	line.Comment = pick(g, blankingSummaries)
	line.Added, line.Deleted = g.IntN(30), 2000+g.IntN(60000)
}

// spammer adds links, or writes a page about a product.
func (g generator) spammer(line *tickerLine) {
	line.User = pick(g, spamNames)
	line.Comment = pick(g, spamSummaries)
	line.Added = 200 + g.IntN(3000)
	if g.IntN(3) == 0 {
		line.IsNew, line.Page = true, pick(g, spamTitles)
	}
}

func (g generator) newcomer(line *tickerLine) {
	line.User = fmt.Sprintf("Newbie%d", g.IntN(90))
	if g.IntN(5) == 0 {
		g.anonymous(line)
	}
	line.IsNew = true
	line.Page = fmt.Sprintf("%s %d", pick(g, subjects), 1800+g.IntN(220))
	line.Comment = pick(g, newcomerSummaries)
	line.Added = 20 + g.IntN(5000)
}

// anonymous makes the editor an address of the ranges for documentation, one in four of version 6.
func (g generator) anonymous(line *tickerLine) {
	line.IsAnonymous = true
	line.User = fmt.Sprintf("%s.%d", pick(g, []string{"192.0.2", "198.51.100", "203.0.113"}), 1+g.IntN(254))
	if g.IntN(4) == 0 {
		line.User = fmt.Sprintf("2001:DB8:0:%X:%X:0:0:%X", g.IntN(8), g.IntN(1<<16), 1+g.IntN(1<<16-1))
	}
}

// place puts one edit in four on a page that is no article.
func (g generator) place(line *tickerLine) {
	if g.IntN(4) > 0 {
		return
	}
	line.Namespace = pick(g, []string{"Talk", "User", "User talk", "Wikipedia", "Template", "Draft", "Category"})
	if strings.HasPrefix(line.Namespace, "User") {
		line.Page = fmt.Sprintf("Editor%d", g.IntN(400))
	}
	line.Page = line.Namespace + ":" + line.Page
}

func pick(g generator, from []string) string { return from[g.IntN(len(from))] }
