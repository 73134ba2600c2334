package memcached

import (
	"crypto/md5"
	"encoding/binary"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"
)

// The continuum of libmemcached's OPT_LIBKETAMA_COMPATIBLE with equal weights.
const (
	ketamaDigests = 40 // a server
	ketamaPoints  = md5.Size / 4
)

// Ketama returns a selector that places keys as libmemcached does with OPT_LIBKETAMA_COMPATIBLE and
// equal weights: when a server joins or leaves n others, about one key in n moves. The order of the
// servers means nothing.
//
// Names are resolved when they are dialled, and a host without a port means [DefaultPort], which
// libmemcached leaves out of what it hashes. A wrong address is an error of [New], and of all methods
// of the selector.
func Ketama(servers ...string) memcache.ServerSelector {
	addrs, err := parseAddresses(servers)
	slices.SortFunc(addrs, func(a, b address) int { return strings.Compare(a.text, b.text) })
	s := &ketamaSelector{roster: roster{addrs, err}}
	for i, addr := range addrs {
		s.points = appendPoints(s.points, addr, i)
	}
	slices.SortFunc(s.points, comparePoints)
	return s
}

type ketamaSelector struct {
	roster
	points []point // sorted
}

// A point is where on the continuum the keys of a server end.
type point struct {
	hash   uint32
	server int
}

// comparePoints has servers decide between equal points, so that their order in the list does not.
func comparePoints(a, b point) int {
	if a.hash != b.hash {
		if a.hash < b.hash {
			return -1
		}
		return 1
	}
	return a.server - b.server
}

func appendPoints(points []point, addr address, server int) []point {
	name := append(ketamaName(addr), '-')
	for i := range ketamaDigests {
		sum := md5.Sum(strconv.AppendInt(name, int64(i), 10))
		for j := range ketamaPoints {
			points = append(points, point{binary.LittleEndian.Uint32(sum[4*j:]), server})
		}
	}
	return points
}

// ketamaName is how libmemcached spells a server: the port is left out if it is the default one, and is 0
// for a unix socket.
func ketamaName(addr address) []byte {
	if addr.network == "unix" {
		return []byte(addr.text + ":0")
	}
	host, port, _ := net.SplitHostPort(addr.text)
	if port == strconv.Itoa(DefaultPort) {
		return []byte(host)
	}
	return []byte(host + ":" + port)
}

func (s *ketamaSelector) place(key string, scratch []byte) int {
	if len(s.addrs) == 1 {
		return 0
	}
	sum := md5.Sum(append(scratch[:0], key...))
	hash := binary.LittleEndian.Uint32(sum[:])
	at, _ := slices.BinarySearchFunc(s.points, hash, func(p point, hash uint32) int {
		return comparePoints(p, point{hash, 0})
	})
	if at == len(s.points) {
		at = 0
	}
	return s.points[at].server
}

// PickServer returns the server of a key.
func (s *ketamaSelector) PickServer(key string) (net.Addr, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.addrs[s.place(key, nil)], nil
}
