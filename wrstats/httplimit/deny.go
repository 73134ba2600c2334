package httplimit

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// unavailable is what Retry-After says when a store failed. How long that lasts nobody knows.
const unavailable = time.Second

// Deny answers a request that is not let through with a [Status] and its text.
func Deny(w http.ResponseWriter, _ *http.Request, d limiter.Decision, err error) {
	status := Status(d, err)
	http.Error(w, http.StatusText(status), status)
}

// Status returns the status of a request that is not let through:
//   - 429 Too Many Requests when a limit denies it. Retry-After is how long to wait, in seconds, rounded
//     up; there is none when no waiting helps ([limiter.Never]).
//   - 503 Service Unavailable when the store failed and the limiter is not FailOpen: the client did
//     nothing wrong. Retry-After is a second.
//   - 500 Internal Server Error when there was nothing to decide: for [ErrOps] and for ops that the
//     limiter refuses.
func Status(d limiter.Decision, err error) int {
	switch {
	case err == nil || limited(d):
		return http.StatusTooManyRequests
	case errors.Is(err, ErrOps), errors.Is(err, limiter.ErrUnknownCondition), errors.Is(err, limiter.ErrInvalidAmount):
		return http.StatusInternalServerError
	}
	return http.StatusServiceUnavailable
}

// limited reports whether a count denies: with some servers down those of the others may.
func limited(d limiter.Decision) bool {
	for i := range d.Ops {
		if denies(&d.Ops[i]) {
			return true
		}
	}
	return false
}

func denies(op *limiter.OpDecision) bool { return !op.Allowed && !op.Unread }

// retryAfter returns the field, or "" for none.
func retryAfter(d limiter.Decision, err error) string {
	switch wait := d.RetryAfter(); Status(d, err) {
	case http.StatusServiceUnavailable:
		return strconv.FormatInt(seconds(unavailable), 10)
	case http.StatusTooManyRequests:
		if wait == limiter.Never {
			return ""
		}
		return strconv.FormatInt(seconds(wait), 10)
	}
	return ""
}

// seconds rounds up to whole seconds, at least one.
func seconds(d time.Duration) int64 {
	whole := int64(d / time.Second)
	if d%time.Second > 0 {
		whole++
	}
	return max(whole, 1)
}
