// Base64 (RFC 4648). `java.util.Base64` needs Android 8, `android.util.Base64` is not there in tests on a JVM.
// Pure; thread-safe.

package checkoutkit

internal object Base64Text {
  private const val ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

  /** The standard alphabet, padded. */
  fun encode(bytes: ByteArray): String {
    val text = StringBuilder((bytes.size + 2) / 3 * 4)
    var index = 0
    while (index < bytes.size) {
      val count = minOf(3, bytes.size - index)
      var group = 0
      for (offset in 0..2) {
        group = group shl 8
        if (offset < count) group = group or (bytes[index + offset].toInt() and 0xFF)
      }
      for (position in 0..3) {
        text.append(if (position <= count) ALPHABET[(group shr (18 - 6 * position)) and 63] else '=')
      }
      index += 3
    }
    return text.toString()
  }

  /** The standard or the URL-safe alphabet, padded or not; null for anything else. */
  fun decode(text: String): ByteArray? {
    val characters = text.trimEnd('=')
    val given = text.length - characters.length
    // Padding completes the last group of four, or is absent.
    val missing = (4 - characters.length % 4) % 4
    if (missing == 3 || (given != 0 && given != missing)) return null
    val bytes = ByteArray(characters.length * 3 / 4)
    var bits = 0
    var bitCount = 0
    var size = 0
    for (character in characters) {
      val value = ALPHABET.indexOf(if (character == '-') '+' else if (character == '_') '/' else character)
      if (value < 0) return null
      bits = ((bits shl 6) or value) and 0xFFFF
      bitCount += 6
      if (bitCount >= 8) {
        bitCount -= 8
        bytes[size] = (bits shr bitCount).toByte()
        size += 1
      }
    }
    return bytes
  }
}
