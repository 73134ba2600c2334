package redis

import (
	"crypto/sha1"
	"encoding/hex"
	"time"
)

// script adds to counters. KEYS are the counters, ARGV[1] is the TTL in seconds, and the deltas follow. It
// returns what failed: the number of the counter, then the error, and so on. When all did it fails itself,
// so that whoever looks at replies learns of a server that takes no writes.
//
// A counter that does not exist is created by SET with its TTL, and no command of the script can create it
// otherwise: INCRBY is run only on those that exist, since between two commands of a script neither time
// passes nor is anything evicted. That all exist, the usual case, is asked at once. A key may be there twice.
const script = `local call, keys, args, failed = redis.pcall, KEYS, ARGV, {}
local all = redis.call('EXISTS', unpack(keys)) == #keys
for i = 1, #keys do
  local r = not all and call('SET', keys[i], args[i + 1], 'NX', 'EX', args[1])
  if not r then r = call('INCRBY', keys[i], args[i + 1]) end
  if type(r) == 'table' and r.err then
    failed[#failed + 1] = i
    failed[#failed + 1] = r.err
    if #failed == 2 * #keys then return r end
  end
end
return failed`

var scriptSHA = func() string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}()

// pieceSize is how many counters a call of the script adds to at most. It keeps other clients waiting for
// less than a millisecond; Lua could take 7,000.
const pieceSize = 300

// seconds is a TTL as it is sent: whole seconds, rounded up, 1 at least.
func seconds(ttl time.Duration) int64 {
	if ttl <= time.Second {
		return 1
	}
	return int64((ttl-1)/time.Second) + 1
}
