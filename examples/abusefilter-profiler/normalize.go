package main

import (
	"strings"
	"unicode"
)

// lookAlikes has the characters that vandals write others with, in upper case: a part of the table that
// MediaWiki's AntiSpoof has.
var lookAlikes = map[rune]rune{
	'0': 'O', '1': 'I', '3': 'E', '4': 'A', '5': 'S', '6': 'G', '7': 'T', '8': 'B', '9': 'G',
	'@': 'A', '$': 'S', '!': 'I', '|': 'I', '€': 'E', '£': 'L', '¥': 'Y', '+': 'T',
	'L': 'I', 'А': 'A', 'В': 'B', 'Е': 'E', 'З': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C',
	'Т': 'T', 'У': 'Y', 'Х': 'X', 'І': 'I', 'Ѕ': 'S', 'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I',
	'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'Υ': 'Y', 'Χ': 'X',
	'À': 'A', 'Á': 'A', 'Â': 'A', 'Ã': 'A', 'Ä': 'A', 'Å': 'A', 'Ç': 'C', 'È': 'E', 'É': 'E', 'Ê': 'E', 'Ë': 'E',
	'Ì': 'I', 'Í': 'I', 'Î': 'I', 'Ï': 'I', 'Ñ': 'N', 'Ò': 'O', 'Ó': 'O', 'Ô': 'O', 'Õ': 'O', 'Ö': 'O', 'Ø': 'O',
	'Ù': 'U', 'Ú': 'U', 'Û': 'U', 'Ü': 'U', 'Ý': 'Y',
}

// ccnorm writes a text in upper case with each look-alike as the character it looks like; L is written I,
// as 1 may be meant for both.
func ccnorm(s string) string {
	return strings.Map(func(r rune) rune {
		r = unicode.ToUpper(r)
		if alike, ok := lookAlikes[r]; ok {
			return alike
		}
		return r
	}, s)
}

func rmdoubles(s string) string {
	last := rune(-1)
	return strings.Map(func(r rune) rune {
		if r == last {
			return -1
		}
		last = r
		return r
	}, s)
}

// rmspecials leaves letters, numbers and white space.
func rmspecials(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, s)
}

func rmwhitespace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func norm(s string) string {
	return rmwhitespace(rmspecials(rmdoubles(ccnorm(s))))
}
