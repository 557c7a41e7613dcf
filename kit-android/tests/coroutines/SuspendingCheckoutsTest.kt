// Checkouts for coroutines: the results, the failures, and what a cancelled coroutine leaves.

package checkoutkit

import checkoutkit.FakeTransport.Companion.posted
import checkoutkit.FakeTransport.Companion.problem
import checkoutkit.FakeTransport.Companion.status
import java.io.File
import java.util.Collections
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.FlowCollector
import kotlinx.coroutines.runBlocking
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

class SuspendingCheckoutsTest {
  @get:Rule val folder = TemporaryFolder()
  private val clock = FakeClock()
  private val context = WebCheckoutContext("price_1")

  private fun suspending(
    dispatcher: CoroutineDispatcher = Dispatchers.IO, answer: (HttpRequest, Int) -> HttpResponse
  ) = SuspendingCheckouts(
    Checkouts(
      RelayClient(
        "https://pay.example.com", "android", Credential.None, FakeTransport(answer), RetryPolicy(jitter = 0.0), clock),
      File(folder.root, "checkouts.json"), clock = clock, jitter = { 0.0 }), dispatcher)

  /** A relay that answers a post, and then with a state for each question. */
  private fun relay(vararg states: Pair<String, Boolean>): SuspendingCheckouts {
    var posted = ""
    return suspending { request, number ->
      if (number == 1) posted = Json.readObject(request.body!!)!!["id"] as String
      if (number == 1) posted(request) else states[number - 2].let { status(posted, it.first, it.second) }
    }
  }

  @Test fun followsACheckoutToItsEnd() = runBlocking<Unit> {
    val shop = relay("open" to false, "paid" to true, "delivered" to true)
    val begun = shop.begin(context, "jdo-1")
    assertTrue(begun.isPosted)
    val states = ArrayList<String>()
    val last = shop.follow(begun.contextId) { states.add(it.state) }
    assertEquals(Progress.PROCESSED, last.progress)
    assertEquals(listOf("open", "paid", "delivered"), states)
    // The kept checkout is confirmed by the second answer of the app's backend.
    val asked = ArrayList<String>()
    assertTrue(shop.confirm(begun.contextId) { user -> asked.add(user) && asked.size == 2 })
    assertEquals(listOf("jdo-1", "jdo-1"), asked)
    assertEquals(emptyList<String>(), shop.checkouts.openIds("jdo-1"))
  }

  @Test fun emitsTheStates() = runBlocking<Unit> {
    val shop = relay("open" to false, "paid" to true, "delivered" to true)
    val begun = shop.begin(context, "jdo-1")
    val states = ArrayList<String>()
    shop.states(begun.contextId).collect(object : FlowCollector<CheckoutStatus> {
      override suspend fun emit(value: CheckoutStatus) {
        states.add(value.state)
      }
    })
    assertEquals(listOf("open", "paid", "delivered"), states)
  }

  @Test fun failsAsTheRelayDoes() = runBlocking<Unit> {
    val shop = suspending { _, _ -> problem(422) }
    val refused = failure<RelayException> { shop.begin(context, "jdo-1") }
    assertEquals(422, refused.status)
    assertFalse(shop.checkouts.hasPending)
  }

  @Test fun interruptsTheRequestOfACancelledCoroutine() = runBlocking<Unit> {
    val sent = CountDownLatch(1)
    val worker = Executors.newSingleThreadExecutor()
    val shop = suspending(worker.asCoroutineDispatcher()) { _, _ ->
      sent.countDown()
      CountDownLatch(1).await()
      throw AssertionError("not interrupted")
    }
    val uncaught = Collections.synchronizedList(ArrayList<Throwable>())
    val handler = Thread.getDefaultUncaughtExceptionHandler()
    Thread.setDefaultUncaughtExceptionHandler { _, failure -> uncaught.add(failure) }
    try {
      val begun = async(Dispatchers.Default) { shop.begin(context, "jdo-1") }
      assertTrue(sent.await(60, TimeUnit.SECONDS))
      begun.cancel()
      failure<CancellationException> { begun.await() }
      // The end of the interrupted thread's work.
      worker.shutdown()
      assertTrue(worker.awaitTermination(60, TimeUnit.SECONDS))
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(handler)
    }
    // An exception that nobody catches ends an app.
    assertEquals(emptyList<Throwable>(), uncaught)
    assertEquals(emptyList<String>(), shop.checkouts.openIds("jdo-1"))
  }
}
