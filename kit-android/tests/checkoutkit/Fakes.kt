// A clock that tests move, a transport that answers from a list, and the tables of all kits.

package checkoutkit

import java.io.File
import java.io.IOException
import java.util.Collections

/** A sleep moves the clock. */
class FakeClock : CheckoutClock {
  @Volatile private var moved = 0.0
  val sleeps: MutableList<Double> = Collections.synchronizedList(ArrayList<Double>())

  override val wallMillis: Long get() = 1_763_632_800_000L + (seconds * 1000).toLong()
  override val seconds: Double get() = moved

  override fun sleep(seconds: Double) {
    if (Thread.currentThread().isInterrupted) throw InterruptedException()
    sleeps.add(seconds)
    advance(seconds)
  }

  fun advance(seconds: Double) {
    synchronized(sleeps) { moved += seconds }
  }
}

/** Answers each request by a function of it and its number, from 1. */
class FakeTransport(private val answer: (HttpRequest, Int) -> HttpResponse) : Transport {
  val requests: MutableList<HttpRequest> = Collections.synchronizedList(ArrayList<HttpRequest>())

  override fun send(request: HttpRequest): HttpResponse {
    val number = synchronized(requests) {
      requests.add(request)
      requests.size
    }
    return answer(request, number)
  }

  /** The members of a request's body. */
  fun body(index: Int): Map<String, Any?> = Json.readObject(requests[index].body!!)!!

  companion object {
    fun json(status: Int, text: String, vararg headers: Pair<String, String>) =
      HttpResponse(status, mapOf("content-type" to "application/json") + headers, text.toByteArray(Charsets.UTF_8))

    /** The relay's. */
    fun problem(status: Int, detail: String = "Do this.", slug: String = "x") = HttpResponse(
      status, mapOf("content-type" to "application/problem+json"),
      "{\"type\":\"urn:receiptd:problem:$slug\",\"detail\":\"$detail\",\"request_id\":\"req_1\"}".toByteArray())

    /** The relay's answer to a post: it takes the client's id. */
    fun posted(request: HttpRequest, status: Int = 201, page: Boolean = true): HttpResponse {
      val id = Json.readObject(request.body!!)!!["id"] as? String ?: "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"
      val url = if (page) ",\"checkout_url\":\"https://buy.example.com/a?client_reference_id=$id\"" else ""
      return json(status, "{\"context_id\":\"$id\",\"user_id\":\"jdo-1\",\"new\":{\"a\":[1]}$url}")
    }

    fun status(id: String, state: String, paid: Boolean) =
      json(200, "{\"context_id\":\"$id\",\"state\":\"$state\",\"paid\":$paid,\"updated_at\":\"2025-11-20T10:00:00.123Z\"}")

    fun unknownContext() = problem(404, slug = "unknown-context")

    fun noNetwork(): HttpResponse = throw IOException("no network")
  }
}

/** What all kits answer: Tests/KitTables, which the tests of the kits for iOS and JavaScript read, too. */
object KitTables {
  fun rows(file: String, table: String): List<Map<String, Any?>> =
    list(file, table).map { Json.asObject(it)!! }.also { check(it.isNotEmpty()) }

  fun list(file: String, table: String): List<*> =
    Json.readObject(File("Tests/KitTables/$file.json").readBytes())!![table] as List<*>

  /** A row's answer; without a status there is no network. */
  fun answer(row: Map<String, Any?>): HttpResponse {
    val status = (row["status"] as? JsonNumber)?.long?.toInt() ?: FakeTransport.noNetwork().status
    val problem = row["problem"] as? String
    val body = (row["body"] as? String ?: "").toByteArray()
    // A proxy may send problems, too.
    return if (problem != null) FakeTransport.problem(status, slug = problem)
    else HttpResponse(status, mapOf("content-type" to "application/problem+json"), body)
  }

  /** A value as in the tables: `otherUser` is OTHER_USER. */
  fun name(value: Enum<*>?): String? =
    value?.name?.split('_')?.joinToString("") { it.toLowerCase().capitalize() }?.decapitalize()
}

/** The exception that a body throws. */
inline fun <reified E : Throwable> failure(body: () -> Any?): E {
  try {
    body()
  } catch (failure: Throwable) {
    if (failure is E) return failure
    throw failure
  }
  throw AssertionError("no exception")
}
