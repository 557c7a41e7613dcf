// Base64, ids, timestamps and the context's form.

package checkoutkit

import java.util.Base64
import java.util.Random
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Assert.fail
import org.junit.Test

class TextTest {
  @Test fun base64IsThatOfTheJdk() {
    val random = Random(1)
    for (size in 0..70) {
      val bytes = ByteArray(size)
      random.nextBytes(bytes)
      val text = Base64.getEncoder().encodeToString(bytes)
      assertEquals(text, Base64Text.encode(bytes))
      for (spelling in listOf(
        text, text.trimEnd('='), Base64.getUrlEncoder().encodeToString(bytes),
        Base64.getUrlEncoder().withoutPadding().encodeToString(bytes))) {
        assertArrayEquals(spelling, bytes, Base64Text.decode(spelling))
      }
    }
    for (text in listOf("A", "AA=", "AAA==", "AAAA=", "AA=A", "A A=", "AA\n==", "====", "=", "Aé==")) {
      assertNull(text, Base64Text.decode(text))
    }
  }

  @Test fun anIdIsTimeAndChance() {
    // The example of the ULID specification: 01ARYZ6S41TSV4RRFFQ69G5FAV has this time.
    val zero = ByteArray(10)
    assertEquals("ctx_01ARYZ6S410000000000000000", ContextId.format(1469918176385L, zero))
    val ones = ByteArray(10) { -1 }
    assertEquals("ctx_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", ContextId.format(Long.MAX_VALUE, ones))
    assertEquals("ctx_0000000000041061050R3GG280", ContextId.format(-5L, byteArrayOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 0)))
    val ids = (1..1000).map { ContextId.create() }
    assertEquals(1000, ids.toSet().size)
    assertTrue(ids.all { ContextId.isWellFormed(it) })
    assertTrue(ContextId.create(1_000L) < ContextId.create(2_000L))
  }

  @Test fun anIdHasOneForm() {
    for (row in KitTables.rows("relay", "contextIds")) {
      assertEquals(row["isValid"], ContextId.isWellFormed(row["id"] as String))
    }
  }

  @Test fun readsTimestamps() {
    assertEquals(1763632800123L, Timestamps.millis("2025-11-20T10:00:00.123Z"))
    assertEquals(1763632800000L, Timestamps.millis("2025-11-20T11:00:00+01:00"))
    assertEquals(1763632800500L, Timestamps.millis("2025-11-20T04:30:00.5-05:30"))
    assertEquals(951782400000L, Timestamps.millis("2000-02-29T00:00:00Z"))
    for (text in listOf("", "2025-11-20", "2025-11-20T10:00:00", "2025-02-30T00:00:00Z", "2025-13-01T00:00:00Z",
      "2025-11-20T25:00:00Z", "2025-11-20 10:00:00Z", "x2025-11-20T10:00:00Z")) {
      assertNull(text, Timestamps.millis(text))
    }
  }

  @Test fun readsRetryAfter() {
    val now = 1763632800000L
    assertEquals(120.0, Timestamps.retryAfterSeconds("120", now)!!, 0.0)
    assertEquals(86_400.0, Timestamps.retryAfterSeconds("99999999999999999999999", now)!!, 0.0)
    assertEquals(30.0, Timestamps.retryAfterSeconds("Thu, 20 Nov 2025 10:00:30 GMT", now)!!, 0.0)
    assertEquals(0.0, Timestamps.retryAfterSeconds("Thu, 20 Nov 2025 09:00:30 GMT", now)!!, 0.0)
    for (text in listOf("", "-1", "1.5", "soon", "Thu, 20 Nov 2025 10:00:30 GMT+1")) {
      assertNull(text, Timestamps.retryAfterSeconds(text, now))
    }
  }

  /** PL02 and PL03 of docs/link-checks.md. */
  @Test fun theContextHasItsSevenNames() {
    val context = WebCheckoutContext.of("price_1", mapOf(
      "ply_last_presentation_displayed" to "pres", "ply_last_placement_displayed" to "a/b é",
      "ply_latest_abtest_id" to "ab", "ply_latest_abtest_variant_id" to 7, "other" to "x"))
    val json = String(Base64.getDecoder().decode(context.plyContext()), Charsets.UTF_8)
    assertEquals(
      "{\"ab_test_id\":\"ab\",\"original_platform\":\"ANDROID\",\"placement_id\":\"a/b é\"," +
        "\"presentation_id\":\"pres\",\"stripe_object_type\":\"subscription\",\"stripe_price_id\":\"price_1\"}",
      json)
    assertEquals(context, WebCheckoutContext.read(context.plyContext()))
    val all = context.copy(abTestVariantId = "b", stripeObjectType = WebCheckoutContext.CHECKOUT_SESSION)
    assertEquals(all, WebCheckoutContext.read(all.plyContext().trimEnd('=').replace('+', '-').replace('/', '_')))
  }

  @Test fun theBuiltInAttributesBecomeAContext() {
    for (row in KitTables.rows("relay", "contexts")) {
      val type = row["type"] as? String ?: WebCheckoutContext.SUBSCRIPTION
      val context = WebCheckoutContext.of("price_1", Json.asObject(row["attributes"])!!, type)
      val members = Json.readObject(Base64.getDecoder().decode(context.plyContext()))
      assertEquals("$row", Json.asObject(row["context"])!! + ("original_platform" to "ANDROID"), members)
    }
  }

  @Test fun refusesContextsThatTheRelayWouldRefuse() {
    val invalid = listOf<() -> Any>(
      { WebCheckoutContext("p".repeat(20_000)).plyContext() }, { WebCheckoutContext("\uD800").plyContext() },
      { WebCheckoutContext.read("") }, { WebCheckoutContext.read("####") }, { WebCheckoutContext.read("e30=") })
    for (body in invalid) {
      try {
        body()
        fail("accepted")
      } catch (expected: RelayException.Encoding) {
        assertEquals(Advice.CONTACT_SUPPORT, expected.advice)
      }
    }
  }
}
