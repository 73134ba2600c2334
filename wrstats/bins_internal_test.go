package wrstats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

var someDistributions = []Distribution{
	{Min: 1e-5, Max: 10, RelativeError: 0.05},
	{Min: 0.01, Max: 10_000, RelativeError: 0.1},
	{Min: 1e-3, Max: 1e6, RelativeError: 0.01},
	{Min: 1, Max: 2, RelativeError: 0.001},
	{Min: 1, Max: 1.001, RelativeError: MinRelativeError},
	{Min: 7, Max: 7.5, RelativeError: 0.5},
	{Min: MinObservable, Max: MaxObservable, RelativeError: 0.5},
	{Min: MinObservable, Max: MaxObservable, RelativeError: 0.999999},
}

func TestEachValueIsInTheBinThatItsLogarithmNames(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range someDistributions {
		b := validBins(t, d)
		for range 2000 {
			requireInItsBin(t, b, math.Exp(math.Log(d.Min)+r.Float64()*(math.Log(d.Max)-math.Log(d.Min))))
		}
		for _, bound := range append(b.upper, d.Min, d.Max) { // the powers of gamma
			for _, v := range []float64{bound, math.Nextafter(bound, 0), math.Nextafter(bound, math.Inf(1))} {
				requireInItsBin(t, b, v)
			}
		}
	}
}

func TestValuesOutOfMinAndMaxAreInTheEdgeBins(t *testing.T) {
	for _, d := range someDistributions {
		b := validBins(t, d)
		for _, v := range []float64{0, math.Copysign(0, -1), -1, -d.Max, math.Inf(-1), d.Min, d.Min / 2, 5e-324} {
			position, ok := b.position(v)
			require.True(t, ok)
			require.Zero(t, position, "%v of %+v", v, d)
		}
		for _, v := range []float64{d.Max, 2 * d.Max, math.MaxFloat64, math.Inf(1)} {
			position, ok := b.position(v)
			require.True(t, ok)
			require.Equal(t, len(b.names)-1, position, "%v of %+v", v, d)
		}
		_, ok := b.position(math.NaN())
		require.False(t, ok)
	}
}

func TestBinsAreAsManyAsTheDocsSay(t *testing.T) {
	for relativeError, bins := range map[float64]int{0.05: 140, 0.01: 692} {
		b := validBins(t, Distribution{Min: 1e-5, Max: 10, RelativeError: relativeError})
		require.Len(t, b.names, bins)
		require.InEpsilon(t, math.Log(b.Max/b.Min)/(2*relativeError), bins, 0.02)
	}
}

func TestABinsValueIsNearAllOfItsOwn(t *testing.T) {
	for _, d := range someDistributions {
		b := validBins(t, d)
		for i, v := range b.value {
			least, most := b.bounds(i)
			require.LessOrEqual(t, least, most)
			require.LessOrEqual(t, math.Abs(v-least), least*d.RelativeError*(1+1e-9), "bin %d of %+v", i, d)
			require.LessOrEqual(t, math.Abs(v-most), most*d.RelativeError*(1+1e-9), "bin %d of %+v", i, d)
		}
	}
}

func FuzzBins(f *testing.F) {
	for _, d := range someDistributions {
		f.Add(d.Min, d.Max, d.RelativeError, d.Min*1.5)
	}
	f.Add(1.0, 1e300, 0.3, -1.0)
	f.Add(3.0, 4.0, 1e-4, math.Inf(1))
	f.Add(math.Nextafter(1, 2), 1.5, 0.9, 5e-324)
	f.Fuzz(func(t *testing.T, least, most, relativeError, v float64) {
		d := Distribution{Min: least, Max: most, RelativeError: relativeError}
		if d.validate() != nil {
			return
		}
		requireInItsBin(t, newBins(d, "m"), v)
	})
}

func validBins(t *testing.T, d Distribution) *bins {
	err := d.validate()
	require.Nil(t, err)
	b := newBins(d, "m")
	require.LessOrEqual(t, len(b.names), MaxBins)
	return b
}

// requireInItsBin checks the position of a value against the bounds and the logarithm.
func requireInItsBin(t *testing.T, b *bins, v float64) {
	t.Helper()
	position, ok := b.position(v)
	require.Equal(t, !math.IsNaN(v), ok)
	if !ok {
		return
	}
	if position > 0 {
		require.Greater(t, v, b.upper[position-1])
	}
	require.LessOrEqual(t, v, b.upper[position])
	if v < b.Min || v > b.Max {
		require.Contains(t, []int{0, len(b.upper) - 1}, position)
		return
	}
	first, _ := b.numbers()
	// The logarithm's own error, in bins, is larger the narrower these are.
	require.InDelta(t, math.Log(v)/b.logGamma()+0.5, float64(first)+float64(position), 0.5+1e-12/b.logGamma()+1e-9, "%v of %+v", v, b.Distribution)
}
