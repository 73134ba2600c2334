package httplimit

import (
	"net/http"
	"strconv"

	"github.com/wrstats/go-wrstats/wrstats/limiter"
)

// The fields as net/http spells them: it finds no others.
const (
	policyField = "Ratelimit-Policy"
	limitField  = "Ratelimit"
)

// maxInteger is the largest in a structured field.
const maxInteger = 999_999_999_999_999

// A policy is a condition as items of the fields begin.
type policy struct {
	name  string // a String of RFC 9651
	quota string // with its parameters
}

// policies are those of a Limiter, by the condition's name.
type policies map[string]*policy

func newPolicies(conditions []limiter.Condition) policies {
	p := make(policies, len(conditions))
	for _, c := range conditions {
		name := string(appendString(nil, c.Name))
		item := append([]byte(name), ";q="...)
		item = appendInteger(item, c.Limit)
		item = append(item, ";w="...)
		item = appendInteger(item, seconds(c.Window))
		p[c.Name] = &policy{name, string(item)}
	}
	return p
}

// A standing is how a decision leaves a client under a policy.
type standing struct {
	policy *policy
	read   bool
	left   int64 // of the limit; 0 until it is read
	wait   int64 // in seconds; 0: unknown
}

// describe adds the fields of a decision to a header. With an error counts may lack what some servers
// have, so that only those that deny are told.
func (p policies) describe(h http.Header, d limiter.Decision, err error) {
	var few [4]standing
	standings := p.standings(few[:0], d, err)
	if len(standings) == 0 {
		return
	}
	var room [128]byte
	quotas := standings[0].policy.quota
	if len(standings) > 1 {
		quotas = string(appendQuotas(room[:0], standings))
	}
	h.Add(policyField, quotas)
	if limits := appendLimits(room[:0], standings); len(limits) > 0 {
		h.Add(limitField, string(limits))
	}
}

// standings returns one for each condition, in the order of the ops.
func (p policies) standings(dst []standing, d limiter.Decision, err error) []standing {
	counted := true
	for i := range d.Ops {
		counted = counted && d.Ops[i].Allowed
	}
	for i := range d.Ops {
		op := &d.Ops[i]
		var s *standing
		if dst, s = find(dst, p[op.Op.Condition]); op.Unread || err != nil && op.Allowed {
			continue
		}
		s.meet(op, counted)
	}
	return dst
}

// find returns the standing under a policy, adding one that is new.
func find(dst []standing, p *policy) ([]standing, *standing) {
	for i := range dst {
		if dst[i].policy == p {
			return dst, &dst[i]
		}
	}
	dst = append(dst, standing{policy: p})
	return dst, &dst[len(dst)-1]
}

// meet lowers a standing to that of an op, of a batch that was counted or not.
func (s *standing) meet(op *limiter.OpDecision, counted bool) {
	count := op.Prev
	if counted {
		count = op.New
	}
	left := max(op.Limit-count, 0)
	if !s.read || left < s.left {
		s.read, s.left = true, left
	}
	if !op.Allowed && op.RetryAfter != limiter.Never {
		s.wait = max(s.wait, seconds(op.RetryAfter))
	}
}

func appendQuotas(dst []byte, standings []standing) []byte {
	for i := range standings {
		if len(dst) > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, standings[i].policy.quota...)
	}
	return dst
}

func appendLimits(dst []byte, standings []standing) []byte {
	for i := range standings {
		s := &standings[i]
		if !s.read {
			continue
		}
		if len(dst) > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, s.policy.name...)
		dst = append(dst, ";r="...)
		dst = appendInteger(dst, s.left)
		if s.wait > 0 {
			dst = append(dst, ";t="...)
			dst = appendInteger(dst, s.wait)
		}
	}
	return dst
}

func appendInteger(dst []byte, n int64) []byte {
	return strconv.AppendInt(dst, min(n, maxInteger), 10)
}

// appendString appends any text as a String of RFC 9651, which holds printable ASCII: other bytes, and
// percent signs, become %XX.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~' || c == '%':
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
