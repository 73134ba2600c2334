// Package page renders the pages of profile.Handler: plain HTML with inline SVG, or JSON. It reads nothing: it is
// given what was read.
package page
