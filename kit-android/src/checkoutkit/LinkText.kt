// Which strings are accepted from links, and how strings are escaped for links. Pure; thread-safe.

package checkoutkit

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.CodingErrorAction

internal object LinkText {
  /** The longest id or other part of a link, in bytes of UTF-8. */
  const val BYTES_MAX = 1024

  private const val DIGITS = "0123456789ABCDEF"

  /** Whether a text may be an id: not empty, not too long, Unicode, no control characters (C0, DEL, C1). */
  fun isIdentifier(text: String, bytesMax: Int = BYTES_MAX): Boolean =
    text.isNotEmpty() && text.length <= bytesMax && isUnicode(text) && !hasControls(text) &&
      text.toByteArray(Charsets.UTF_8).size <= bytesMax

  private fun hasControls(text: String): Boolean = text.any { it < ' ' || it in '\u007F'..'\u009F' }

  /** Whether each surrogate has its other half. Java's strings allow others, UTF-8 does not. */
  fun isUnicode(text: String): Boolean {
    var index = 0
    while (index < text.length) {
      val character = text[index]
      if (character.isHighSurrogate()) {
        index += 1
        if (index == text.length || !text[index].isLowSurrogate()) return false
      } else if (character.isLowSurrogate()) {
        return false
      }
      index += 1
    }
    return true
  }

  /** Escapes everything except RFC 3986's unreserved characters: exactly one segment or one query value. */
  fun escaped(text: String): String {
    val result = StringBuilder()
    for (byte in text.toByteArray(Charsets.UTF_8)) {
      val value = byte.toInt() and 0xFF
      if (isUnreserved(value.toChar())) {
        result.append(value.toChar())
      } else {
        result.append('%').append(DIGITS[value shr 4]).append(DIGITS[value and 15])
      }
    }
    return result.toString()
  }

  /** Decodes percent escapes; null for a broken escape, and for invalid UTF-8. A plus is a plus. */
  fun unescaped(text: String): String? {
    if (!isUnicode(text)) return null
    val bytes = text.toByteArray(Charsets.UTF_8)
    val result = ByteBuffer.allocate(bytes.size)
    var index = 0
    while (index < bytes.size) {
      if (bytes[index] == '%'.toByteValue()) {
        if (index + 2 >= bytes.size) return null
        val high = digit(bytes[index + 1])
        val low = digit(bytes[index + 2])
        if (high < 0 || low < 0) return null
        result.put((high * 16 + low).toByte())
        index += 3
      } else {
        result.put(bytes[index])
        index += 1
      }
    }
    return decoded(result.array(), result.position())
  }

  /** The text of UTF-8 bytes; null for invalid UTF-8. */
  fun decoded(bytes: ByteArray, count: Int = bytes.size): String? {
    val decoder = Charsets.UTF_8.newDecoder()
      .onMalformedInput(CodingErrorAction.REPORT).onUnmappableCharacter(CodingErrorAction.REPORT)
    return try {
      decoder.decode(ByteBuffer.wrap(bytes, 0, count)).toString()
    } catch (invalid: CharacterCodingException) {
      null
    }
  }

  private fun Char.toByteValue(): Byte = (this - '\u0000').toByte()

  private fun digit(byte: Byte): Int {
    val character = (byte.toInt() and 0xFF).toChar()
    return when (character) {
      in '0'..'9' -> character - '0'
      in 'a'..'f' -> character - 'a' + 10
      in 'A'..'F' -> character - 'A' + 10
      else -> -1
    }
  }

  /** Lower-cases ASCII only, as schemes and hosts are compared (RFC 3986 §6.2.2.1). */
  fun lowercased(text: String): String {
    val result = StringBuilder(text.length)
    for (character in text) result.append(if (character in 'A'..'Z') character + 32 else character)
    return result.toString()
  }

  fun lowercased(texts: Set<String>): Set<String> = texts.map { lowercased(it) }.toSet()

  /** RFC 3986 §3.1. */
  fun isScheme(text: String): Boolean =
    text.isNotEmpty() && isLetter(text[0]) && text.all { isLetter(it) || isDigit(it) || it in "+-." }

  fun isLetter(character: Char): Boolean = character in 'a'..'z' || character in 'A'..'Z'

  fun isDigit(character: Char): Boolean = character in '0'..'9'

  /** A printable character of ASCII: what a header's value may have, without blanks. */
  fun isVisible(character: Char): Boolean = character in '!'..'~'

  private fun isUnreserved(character: Char): Boolean =
    isLetter(character) || isDigit(character) || character in "-._~"
}
