// Ids of contexts, as the relay makes them. Thread-safe.

package checkoutkit

import java.security.SecureRandom

/**
 * The id of a context: `ctx_` and 26 characters of Crockford's base32, 48 bits of time and 80 random bits, as
 * in a ULID. A caller who has the id can read the checkout's state, so it is a secret.
 */
object ContextId {
  private const val PREFIX = "ctx_"
  private const val ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
  private const val TIME_CHARACTERS = 10
  private const val RANDOM_BYTES = 10

  private val random = SecureRandom()

  /** Creates an id. The relay accepts it in a post as long as no context has it. */
  @JvmStatic @JvmOverloads fun create(nowMillis: Long = System.currentTimeMillis()): String {
    val bytes = ByteArray(RANDOM_BYTES)
    random.nextBytes(bytes)
    return format(nowMillis, bytes)
  }

  /** Whether it has the form of an id. The relay need not know it. */
  @JvmStatic fun isWellFormed(text: String): Boolean =
    // 48 bits in ten characters: the first has three.
    isCrockford(text, PREFIX) && text[PREFIX.length] in '0'..'7'

  /** Whether a text is a prefix and 26 characters of the alphabet, the form of the relay's ids. */
  internal fun isCrockford(text: String, prefix: String): Boolean =
    text.length == prefix.length + 26 && text.startsWith(prefix) && text.drop(prefix.length).all { it in ALPHABET }

  internal fun format(nowMillis: Long, random: ByteArray): String {
    val time = nowMillis.coerceIn(0L, 0xFFFFFFFFFFFFL)
    val text = StringBuilder(PREFIX)
    for (position in TIME_CHARACTERS - 1 downTo 0) text.append(character(time shr (5 * position)))
    // Five bytes are eight characters.
    for (half in 0..1) {
      var bits = 0L
      for (index in 0..4) bits = (bits shl 8) or (random[half * 5 + index].toLong() and 0xFF)
      for (position in 7 downTo 0) text.append(character(bits shr (5 * position)))
    }
    return text.toString()
  }

  private fun character(bits: Long): Char = ALPHABET[(bits and 31).toInt()]
}
