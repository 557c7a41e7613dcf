// JSON (RFC 8259), because Android's own classes accept what is not JSON, and are not there in tests on a JVM.
// Pure; thread-safe.

package checkoutkit

/** A text is not JSON; [position] counts characters from 0. */
internal class JsonException(reason: String, val position: Int) : Exception("$reason at $position")

/** A number as written: JSON's numbers have no limits, and a conversion is the caller's choice. */
internal data class JsonNumber(val text: String) {
  /** Null for a fraction, an exponent, and a number that does not fit. */
  val long: Long? get() = text.toLongOrNull()
}

/**
 * Reads and writes JSON. Objects are `Map<String, Any?>` in the order of the text, arrays `List<Any?>`, strings
 * `String`, numbers [JsonNumber] (also `Int` and `Long` when written), literals `Boolean` and `null`.
 */
internal object Json {
  /** A parser may limit the depth of nesting (RFC 8259 §9). */
  const val DEPTH_MAX = 64

  /**
   * Reads one value.
   *
   * @throws JsonException when the text is not JSON, or has a name twice in one object, an unpaired surrogate,
   *   or more than [DEPTH_MAX] levels.
   */
  fun read(text: String): Any? = JsonReader(text).document()

  /** Reads an object from UTF-8; null when the bytes are not one. */
  fun readObject(bytes: ByteArray): Map<String, Any?>? {
    val text = LinkText.decoded(bytes) ?: return null
    val value = try {
      read(text)
    } catch (invalid: JsonException) {
      return null
    }
    return asObject(value)
  }

  /** The value as an object; null when it is not one. */
  fun asObject(value: Any?): Map<String, Any?>? {
    if (value !is Map<*, *>) return null
    val members = LinkedHashMap<String, Any?>()
    for ((name, member) in value) members[name as String] = member
    return members
  }

  /** Writes a value. Members are written in the map's order; slashes and letters are not escaped. */
  fun write(value: Any?): String {
    val text = StringBuilder()
    write(value, text)
    return text.toString()
  }

  private fun write(value: Any?, text: StringBuilder) {
    when (value) {
      null -> text.append("null")
      is String -> writeString(value, text)
      is Boolean, is Int, is Long -> text.append(value.toString())
      is JsonNumber -> text.append(value.text)
      is Map<*, *> -> {
        text.append('{')
        var isFirst = true
        for ((name, member) in value) {
          if (!isFirst) text.append(',')
          isFirst = false
          writeString(name as String, text)
          text.append(':')
          write(member, text)
        }
        text.append('}')
      }
      is List<*> -> {
        text.append('[')
        for ((index, element) in value.withIndex()) {
          if (index > 0) text.append(',')
          write(element, text)
        }
        text.append(']')
      }
      else -> throw IllegalArgumentException("JSON has no such value")
    }
  }

  private fun writeString(value: String, text: StringBuilder) {
    if (!LinkText.isUnicode(value)) throw IllegalArgumentException("An unpaired surrogate is not text")
    text.append('"')
    for (character in value) {
      when (character) {
        '"' -> text.append("\\\"")
        '\\' -> text.append("\\\\")
        '\n' -> text.append("\\n")
        '\r' -> text.append("\\r")
        '\t' -> text.append("\\t")
        '\b' -> text.append("\\b")
        '\u000C' -> text.append("\\f")
        else -> {
          if (character < ' ') {
            val code = character - '\u0000'
            text.append("\\u00").append(HEX[code shr 4]).append(HEX[code and 15])
          } else {
            text.append(character)
          }
        }
      }
    }
    text.append('"')
  }

  private const val HEX = "0123456789abcdef"
}

/** Reads one text. Not thread-safe. */
private class JsonReader(private val text: String) {
  private var position = 0

  fun document(): Any? {
    skipBlanks()
    val value = value(1)
    skipBlanks()
    if (position < text.length) fail("more text after the value")
    return value
  }

  private fun value(depth: Int): Any? {
    if (depth > Json.DEPTH_MAX) fail("too many levels")
    return when (peek()) {
      '{' -> readObject(depth)
      '[' -> readArray(depth)
      '"' -> readString()
      't' -> readLiteral("true", true)
      'f' -> readLiteral("false", false)
      'n' -> readLiteral("null", null)
      else -> readNumber()
    }
  }

  private fun readObject(depth: Int): Map<String, Any?> {
    val members = LinkedHashMap<String, Any?>()
    position += 1
    skipBlanks()
    if (consume('}')) return members
    do {
      skipBlanks()
      if (peek() != '"') fail("a name is missing")
      val name = readString()
      skipBlanks()
      if (!consume(':')) fail("a colon is missing")
      skipBlanks()
      // RFC 8259 §4: the meaning of two members with one name is not defined.
      if (members.containsKey(name)) fail("a name is there twice")
      members[name] = value(depth + 1)
      skipBlanks()
    } while (consume(','))
    if (!consume('}')) fail("a comma or a brace is missing")
    return members
  }

  private fun readArray(depth: Int): List<Any?> {
    val elements = ArrayList<Any?>()
    position += 1
    skipBlanks()
    if (consume(']')) return elements
    do {
      skipBlanks()
      elements.add(value(depth + 1))
      skipBlanks()
    } while (consume(','))
    if (!consume(']')) fail("a comma or a bracket is missing")
    return elements
  }

  private fun readString(): String {
    val start = position
    position += 1
    val result = StringBuilder()
    while (true) {
      if (position >= text.length) fail("a string does not end")
      val character = text[position]
      position += 1
      when {
        character == '"' -> {
          val string = result.toString()
          if (!LinkText.isUnicode(string)) throw JsonException("an unpaired surrogate", start)
          return string
        }
        character == '\\' -> result.append(readEscape())
        character < ' ' -> fail("a control character in a string")
        else -> result.append(character)
      }
    }
  }

  private fun readEscape(): Char {
    val character = peek()
    position += 1
    return when (character) {
      '"', '\\', '/' -> character
      'b' -> '\b'
      'f' -> '\u000C'
      'n' -> '\n'
      'r' -> '\r'
      't' -> '\t'
      'u' -> readCodeUnit()
      else -> fail("an unknown escape")
    }
  }

  private fun readCodeUnit(): Char {
    var code = 0
    for (count in 1..4) {
      val character = peek()
      position += 1
      code = code * 16 + when (character) {
        in '0'..'9' -> character - '0'
        in 'a'..'f' -> character - 'a' + 10
        in 'A'..'F' -> character - 'A' + 10
        else -> fail("an escape has four hexadecimal digits")
      }
    }
    return code.toChar()
  }

  private fun readLiteral(word: String, value: Any?): Any? {
    if (!text.startsWith(word, position)) fail("an unknown word")
    position += word.length
    return value
  }

  /** RFC 8259 §6. */
  private fun readNumber(): JsonNumber {
    val start = position
    consume('-')
    if (!consume('0')) digits()
    if (consume('.')) digits()
    if (consume('e') || consume('E')) {
      if (!consume('+')) consume('-')
      digits()
    }
    return JsonNumber(text.substring(start, position))
  }

  private fun digits() {
    val start = position
    while (position < text.length && LinkText.isDigit(text[position])) position += 1
    if (position == start) fail("not a value")
  }

  private fun skipBlanks() {
    while (position < text.length && text[position] in " \t\n\r") position += 1
  }

  private fun consume(character: Char): Boolean {
    if (position >= text.length || text[position] != character) return false
    position += 1
    return true
  }

  /** U+FFFF, which starts nothing, at the end of the text. */
  private fun peek(): Char = if (position < text.length) text[position] else '\uFFFF'

  private fun fail(reason: String): Nothing = throw JsonException(reason, position)
}
