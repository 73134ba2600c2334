// Package httplimit limits HTTP requests by a [limiter.Limiter], as middleware for net/http.
//
// [New] makes the middleware from a function that says what a request asks for: so much of these
// conditions for these entities. [PerClient] is that function for one unit a request of each client
// address, and [ClientAddr] tells that address, also behind proxies.
//
// Answers carry the RateLimit and RateLimit-Policy fields of the IETF's
// draft-ietf-httpapi-ratelimit-headers-11, and those that are denied Retry-After besides:
//
//	HTTP/1.1 429 Too Many Requests
//	Ratelimit-Policy: "login";q=5;w=60
//	Ratelimit: "login";r=0;t=13
//	Retry-After: 13
//
// A draft may change; what this package sends may follow it.
package httplimit
