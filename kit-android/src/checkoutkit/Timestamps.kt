// Timestamps of the relay and of HTTP. `java.time` needs Android 8. Pure; thread-safe.

package checkoutkit

import java.text.ParsePosition
import java.text.SimpleDateFormat
import java.util.Calendar
import java.util.GregorianCalendar
import java.util.Locale
import java.util.TimeZone

internal object Timestamps {
  private const val DAY_SECONDS = 86_400.0
  private val form =
    Regex("(\\d{4})-(\\d\\d)-(\\d\\d)[Tt](\\d\\d):(\\d\\d):(\\d\\d)(?:\\.(\\d{1,9}))?(?:[Zz]|([+-])(\\d\\d):(\\d\\d))")

  /** Milliseconds since 1970 of a timestamp (RFC 3339); null when the text is not one. */
  fun millis(text: String): Long? {
    val parts = form.matchEntire(text)?.groupValues ?: return null
    fun number(index: Int): Int = parts[index].toInt()
    val calendar = GregorianCalendar(TimeZone.getTimeZone("GMT"), Locale.ROOT)
    calendar.isLenient = false
    calendar.clear()
    calendar.set(number(1), number(2) - 1, number(3), number(4), number(5), minOf(number(6), 59))
    calendar.set(Calendar.MILLISECOND, parts[7].padEnd(3, '0').substring(0, 3).toInt())
    if (number(6) > 60) return null
    val moment = try {
      calendar.timeInMillis
    } catch (invalid: IllegalArgumentException) {
      return null
    }
    if (parts[8] == "") return moment
    val offset = (number(9) * 60 + number(10)) * 60_000L
    return if (parts[8] == "+") moment - offset else moment + offset
  }

  /** Seconds, or a date (RFC 9110 §10.2.3); at most a day. An invalid value counts as absent. */
  fun retryAfterSeconds(value: String, nowMillis: Long): Double? {
    val text = value.trim()
    if (text.isNotEmpty() && text.all { LinkText.isDigit(it) }) return text.toDouble().coerceAtMost(DAY_SECONDS)
    val date = httpDate(text) ?: return null
    return ((date - nowMillis) / 1000.0).coerceIn(0.0, DAY_SECONDS)
  }

  /** Milliseconds since 1970 of an IMF-fixdate (RFC 9110 §5.6.7); null when the text is not one. */
  fun httpDate(value: String): Long? {
    val text = value.trim()
    val format = SimpleDateFormat("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
    format.timeZone = TimeZone.getTimeZone("GMT")
    val position = ParsePosition(0)
    val date = format.parse(text, position)
    return if (date == null || position.index < text.length) null else date.time
  }
}
