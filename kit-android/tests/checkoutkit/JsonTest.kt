// JSON as in RFC 8259: what is accepted, what is refused, and what is written.

package checkoutkit

import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.fail
import org.junit.Test

class JsonTest {
  private fun refused(text: String) {
    try {
      Json.read(text)
    } catch (expected: JsonException) {
      return
    }
    fail("accepted: $text")
  }

  @Test fun readsTheExamplesOfTheRfc() {
    val image = Json.asObject(Json.asObject(Json.read(
      """{"Image": {"Width": 800, "Title": "View from 15th Floor", "Thumbnail":
         {"Url": "http://www.example.com/image/481989943", "Height": 125}, "Animated" : false,
         "IDs": [116, 943, 234, 38793]}}"""))!!["Image"])!!
    assertEquals(800L, (image["Width"] as JsonNumber).long)
    assertEquals("View from 15th Floor", image["Title"])
    assertEquals(false, image["Animated"])
    assertEquals(listOf(116L, 943L, 234L, 38793L), (image["IDs"] as List<*>).map { (it as JsonNumber).long })
    // RFC 8259 §13: values that are not objects.
    assertEquals("Hello world!", Json.read("\"Hello world!\""))
    assertEquals(42L, (Json.read("42") as JsonNumber).long)
    assertEquals(true, Json.read("true"))
    assertNull(Json.read(" null\r\n"))
  }

  @Test fun readsEveryEscape() {
    assertEquals("\"\\/\b\u000C\n\r\té\uD834\uDD1E\u0000",
      Json.read("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD834\\udd1e\\u0000\""))
    assertEquals("\u2028\u007F", Json.read("\"\u2028\u007F\""))
  }

  @Test fun keepsNumbersAsWritten() {
    for (text in listOf("0", "-0", "1.50", "1e400", "-12E-3", "123456789012345678901234567890")) {
      assertEquals(JsonNumber(text), Json.read(text))
    }
    assertNull((Json.read("1.0") as JsonNumber).long)
    assertNull((Json.read("99999999999999999999") as JsonNumber).long)
  }

  @Test fun refusesWhatIsNotJson() {
    val texts = listOf(
      "", " ", "{", "}", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
      "{'a':1}", "{\"a\" 1}", "{1:2}", "{,}", "{\"a\":1", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"",
      "\"\n\"", "\"\u0001\"", "'a'", "tru", "True", "nul", "NaN", "Infinity", "-Infinity", "+1", "01", "-", "-01", "1.",
      ".1", "1.e1", "1e", "1e+", "0x1", "1 1", "[] []", "// a\n1", "/* a */ 1", "\uFEFF1", "1\u00A0", "\"\\ud800\"",
      "\"\\udc00\\ud800\"", "\"\\ud800x\"", "nullx")
    for (text in texts) refused(text)
  }

  @Test fun refusesANameTwiceAndTooManyLevels() {
    refused("{\"a\":1,\"\\u0061\":2}")
    val deepest = "[".repeat(Json.DEPTH_MAX) + "]".repeat(Json.DEPTH_MAX)
    Json.read(deepest)
    refused("[$deepest]")
    refused("[".repeat(1_000_000))
  }

  @Test fun refusesBytesThatAreNotUtf8() {
    assertEquals(mapOf("a" to "é"), Json.readObject("{\"a\":\"é\"}".toByteArray(Charsets.UTF_8)))
    assertNull(Json.readObject("{\"a\":\"é\"}".toByteArray(Charsets.ISO_8859_1)))
    assertNull(Json.readObject("[]".toByteArray(Charsets.UTF_8)))
    assertNull(Json.readObject(ByteArray(0)))
  }

  @Test fun writesInTheOrderGiven() {
    val value = linkedMapOf(
      "b" to "\"\\/\b\u000C\n\r\t\u0001\u001Fé\uD83D\uDE00", "a" to listOf(1, -2L, true, null, JsonNumber("1.50")),
      "c" to emptyMap<String, Any?>(), "d" to emptyList<Any?>())
    val text = Json.write(value)
    assertEquals(
      "{\"b\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001fé\uD83D\uDE00\",\"a\":[1,-2,true,null,1.50],\"c\":{},\"d\":[]}",
      text)
    assertEquals(value["b"], Json.asObject(Json.read(text))!!["b"])
  }

  @Test fun doesNotWriteWhatIsNotJson() {
    for (value in listOf<Any>("\uD800", Double.NaN, Any(), mapOf("a" to 'b'))) {
      try {
        Json.write(value)
        fail("written: $value")
      } catch (expected: IllegalArgumentException) {
        // As it must be.
      }
    }
  }
}
