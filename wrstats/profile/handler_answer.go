package profile

import (
	"encoding/json"
	"net/http"

	"github.com/wrstats/go-wrstats/wrstats/profile/internal/page"
)

const (
	typeHTML = "text/html; charset=utf-8"
	typeJSON = "application/json"
)

// answer sends a page in the form that was asked for.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, q query, data any, html func() ([]byte, error)) {
	if q.json {
		sendJSON(w, http.StatusOK, data)
		return
	}
	content, err := html()
	if err != nil {
		h.fail(w, r, http.StatusInternalServerError, "The page can’t be shown", "That is a fault of the page’s own.")
		return
	}
	send(w, http.StatusOK, typeHTML, content)
}

// fail sends what is wrong, in the form that was asked for as far as that is known.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, status int, heading, text string, details ...string) {
	if wantsJSON(r) {
		sendJSON(w, status, struct {
			Error   string   `json:"error"`
			Details []string `json:"details"`
		}{heading + ". " + text, append([]string{}, details...)})
		return
	}
	m := page.Message{Frame: page.Frame{Title: h.opts.Title}, Heading: heading, Text: text, Details: details}
	content, err := m.HTML()
	if err != nil {
		content = []byte("<!DOCTYPE html><title>Error</title><p>The page can’t be shown.")
	}
	send(w, status, typeHTML, content)
}

func (h *handler) badRequest(w http.ResponseWriter, r *http.Request, wrong string) {
	h.fail(w, r, http.StatusBadRequest, "That can’t be asked", wrong)
}

func sendJSON(w http.ResponseWriter, status int, data any) {
	content, err := json.Marshal(data)
	if err != nil { // a number that JSON has no word for
		status, content = http.StatusInternalServerError, []byte(`{"error":"The page can’t be shown.","details":[]}`)
	}
	send(w, status, typeJSON, append(content, '\n'))
}
