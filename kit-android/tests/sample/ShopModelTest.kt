// The sample's model: the code of docs/android.md.

package com.example.shop

import checkoutkit.Checkouts
import checkoutkit.Credential
import checkoutkit.FakeClock
import checkoutkit.FakeTransport
import checkoutkit.FakeTransport.Companion.json
import checkoutkit.FakeTransport.Companion.noNetwork
import checkoutkit.FakeTransport.Companion.posted
import checkoutkit.FakeTransport.Companion.problem
import checkoutkit.FakeTransport.Companion.status
import checkoutkit.FakeTransport.Companion.unknownContext
import checkoutkit.HttpRequest
import checkoutkit.HttpResponse
import checkoutkit.Json
import checkoutkit.RelayClient
import checkoutkit.RetryPolicy
import checkoutkit.Transport
import java.io.File
import java.util.Collections
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.After
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

class ShopModelTest {
  @get:Rule val folder = TemporaryFolder()

  private val queue = LinkedBlockingQueue<Runnable>()
  private val worker = Executors.newCachedThreadPool()
  private val opened = ArrayList<String>()
  private val messages = ArrayList<Message>()
  private var scheduled = 0

  @After fun end() {
    worker.shutdownNow()
  }

  private fun model(
    transport: Transport, pages: Map<String, String> = emptyMap(), user: String = "jdo-1", isSignedIn: Boolean = true,
    reload: (String) -> Boolean = { true }
  ): ShopModel {
    val clock = FakeClock()
    val relay = RelayClient(
      "https://pay.example.com", "android", Credential.ClientKey("k"), transport, RetryPolicy.NONE, clock)
    val checkouts = Checkouts(relay, File(folder.root, "checkouts.json"), pages, clock = clock)
    val model = ShopModel(checkouts, user, isSignedIn, { emptyMap() }, reload, worker, Executor { queue.put(it) })
    model.onChange = { messages.add(model.message) }
    model.openPage = { url, _ -> opened.add(url) }
    model.schedulePosts = { scheduled += 1 }
    return model
  }

  /** The main thread, until the model shows this. */
  private fun run(model: ShopModel, until: Message) {
    while (model.message != until) {
      val next = queue.poll(30, TimeUnit.SECONDS) ?: throw AssertionError("still ${model.message}: $messages")
      next.run()
    }
  }

  private fun run(model: ShopModel, until: Claim) {
    while (model.claim != until) {
      val next = queue.poll(30, TimeUnit.SECONDS) ?: throw AssertionError("still ${model.claim}")
      next.run()
    }
  }

  private fun id(request: HttpRequest) = request.url.substringAfterLast('/').substringBefore('?')

  @Test fun fromTheTapToThePurchase() {
    val transport = FakeTransport { request, _ ->
      if (request.method == "POST") posted(request) else status(id(request), "delivered", true)
    }
    val model = model(transport)
    model.setActive(true)
    model.open("exampleapp://web_checkout/?plan_id=price_1")
    // A second tap while the page opens.
    model.buy("price_1")
    run(model, Message.IN_BROWSER)
    assertEquals(1, transport.requests.size)
    val id = transport.body(0)["id"] as String
    assertEquals(listOf("https://buy.example.com/a?client_reference_id=$id"), opened)
    model.setActive(false)
    model.open("https://pay.example.com/v1/android/return?context_id=$id")
    assertEquals(1, transport.requests.size)
    model.setActive(true)
    run(model, Message.CONFIRMED)
    assertEquals(
      listOf(Message.OPENING, Message.IN_BROWSER, Message.CHECKING, Message.ACTIVATING, Message.CONFIRMED), messages)
    assertEquals(0, scheduled)
  }

  @Test fun deliveredIsNotUnlocked() {
    val transport = FakeTransport { request, _ ->
      if (request.method == "POST") posted(request) else status(id(request), "delivered", true)
    }
    val users = Collections.synchronizedList(ArrayList<String>())
    val model = model(transport, reload = { user -> users.add(user); users.size == 9 })
    model.buy("price_1")
    run(model, Message.IN_BROWSER)
    model.setActive(true)
    run(model, Message.ACTIVATING)
    // The seven questions of a minute.
    (queue.poll(30, TimeUnit.SECONDS) ?: throw AssertionError("no end")).run()
    assertEquals(Message.ACTIVATING, model.message)
    assertEquals(List(7) { "jdo-1" }, users.toList())
    // The next activation asks again.
    model.setActive(false)
    model.setActive(true)
    run(model, Message.CONFIRMED)
    assertEquals(9, users.size)
  }

  @Test fun theProcessEndsWhileTheBrowserIsOpen() {
    val first = model(FakeTransport { _, _ -> noNetwork() }, mapOf("price_1" to "https://buy.example.com/a"))
    first.buy("price_1")
    run(first, Message.IN_BROWSER)
    assertEquals(1, scheduled)
    val id = opened.single().substringAfter("client_reference_id=")
    val transport = FakeTransport { request, number ->
      when (number) {
        // It was not posted before the process ended, and is now when its time has come.
        1 -> unknownContext()
        2 -> posted(request, page = false)
        else -> status(id(request), "failed", true)
      }
    }
    val next = model(transport)
    assertEquals(Message.UNCHECKED, next.message)
    next.open("exampleapp://pay.example.com/v1/android/return?context_id=$id")
    next.setActive(true)
    run(next, Message.PROCESSING)
    assertEquals(id, transport.body(1)["id"])
  }

  @Test fun saysWhatTheCustomerCanDo() {
    for ((answer, message) in listOf<Pair<() -> HttpResponse, Message>>(
      Pair({ noNetwork() }, Message.NO_CONNECTION), Pair({ problem(503) }, Message.BUSY),
      Pair({ problem(422) }, Message.UNAVAILABLE))) {
      val model = model(FakeTransport { _, _ -> answer() })
      model.buy("price_1")
      run(model, message)
    }
    assertTrue(opened.isEmpty())
  }

  @Test fun aFailureSaysNothingAboutThePayment() {
    var answer: (HttpRequest) -> HttpResponse = { posted(it) }
    val model = model(FakeTransport { request, _ -> answer(request) })
    model.setActive(true)
    model.buy("price_1")
    run(model, Message.IN_BROWSER)
    model.setActive(false)
    answer = { problem(500) }
    model.setActive(true)
    run(model, Message.UNCHECKED)
    model.setActive(false)
    answer = { json(404, "of a proxy") }
    model.setActive(true)
    run(model, Message.CHECKING)
    run(model, Message.UNCHECKED)
    model.setActive(false)
    answer = { status(id(it), "cancelled", false) }
    model.setActive(true)
    run(model, Message.NOT_PAID)
    model.setActive(false)
    model.setActive(true)
    assertEquals(Message.NOT_PAID, model.message)
  }

  @Test fun aLatePaymentIsFound() {
    var answer: (HttpRequest) -> HttpResponse = { posted(it) }
    val transport = FakeTransport { request, _ -> answer(request) }
    val model = model(transport)
    model.buy("price_1")
    run(model, Message.IN_BROWSER)
    answer = { status(id(it), "expired", false) }
    model.setActive(true)
    run(model, Message.EXPIRED)
    model.setActive(false)
    answer = { status(id(it), "paid", true) }
    val next = model(transport)
    assertEquals(Message.NONE, next.message)
    next.setActive(true)
    run(next, Message.PROCESSING)
  }

  @Test fun anOldCheckoutDoesNotHideTheLast() {
    val ids = Collections.synchronizedList(ArrayList<String>())
    val transport = FakeTransport { request, _ ->
      when {
        request.method == "POST" -> posted(request).also { ids.add(Json.readObject(request.body!!)!!["id"] as String) }
        id(request) == ids.first() -> problem(500)
        else -> status(id(request), "delivered", true)
      }
    }
    val model = model(transport)
    model.buy("price_1")
    run(model, Message.IN_BROWSER)
    model.buy("price_1")
    run(model, Message.OPENING)
    run(model, Message.IN_BROWSER)
    model.setActive(true)
    run(model, Message.CONFIRMED)
  }

  @Test fun ignoresLinksOfOthersAndOpensPages() {
    val transport = FakeTransport { _, _ -> noNetwork() }
    val model = model(transport)
    model.setActive(true)
    model.open("https://pay.example.com/v1/android/return?context_id=ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD")
    model.open("https://pay.example.com/v1/android/return")
    model.open("https://www.example.com/")
    // Opened once: if the browser gives it back, Android opens the app again, and so on.
    for (repeat in 1..3) model.open("https://pay.example.com/v1/android/return?context_id=ctx_x")
    model.open("https://user@pay.example.com:443/v1/android/return")
    model.open("intent://x#Intent;end")
    assertEquals(
      listOf("https://www.example.com/", "https://pay.example.com/v1/android/return?context_id=ctx_x"), opened)
    assertEquals(0, transport.requests.size)
    assertEquals(emptyList<Message>(), messages)
  }

  @Test fun stopsInTheBackground() {
    val waiting = CountDownLatch(1)
    val interrupted = CountDownLatch(1)
    val transport = FakeTransport { request, number ->
      if (number == 1) {
        posted(request)
      } else {
        waiting.countDown()
        try {
          CountDownLatch(1).await()
          noNetwork()
        } catch (ended: InterruptedException) {
          interrupted.countDown()
          throw ended
        }
      }
    }
    val model = model(transport)
    model.setActive(true)
    model.buy("price_1")
    run(model, Message.IN_BROWSER)
    model.setActive(false)
    model.setActive(true)
    assertTrue(waiting.await(30, TimeUnit.SECONDS))
    model.setActive(false)
    assertTrue(interrupted.await(30, TimeUnit.SECONDS))
    assertEquals(Message.UNCHECKED, model.message)
  }

  @Test fun anotherUserSeesNoOutcomeOfTheOneBefore() {
    val transport = FakeTransport { request, _ ->
      if (request.method == "POST") posted(request) else status(id(request), "delivered", true)
    }
    val model = model(transport)
    model.buy("price_1")
    run(model, Message.IN_BROWSER)
    val id = transport.body(0)["id"] as String
    model.changeUser("ben", true)
    assertEquals(Message.NONE, model.message)
    model.setActive(true)
    model.open("https://pay.example.com/v1/android/return?context_id=$id")
    assertEquals(Message.NONE, model.message)
    assertEquals("nothing was asked", 1, transport.requests.size)
    // Also after the process has ended.
    assertEquals(Message.NONE, model(transport, user = "ben").message)
    // The previous user comes back.
    model.changeUser("jdo-1", true)
    run(model, Message.CONFIRMED)
  }

  @Test fun aResultThatComesAfterTheSignOutIsNotShown() {
    val asked = CountDownLatch(1)
    val answers = CountDownLatch(1)
    val transport = FakeTransport { request, _ ->
      asked.countDown()
      answers.await()
      posted(request)
    }
    val model = model(transport)
    model.buy("price_1")
    assertTrue(asked.await(30, TimeUnit.SECONDS))
    model.changeUser("ben", true)
    answers.countDown()
    (queue.poll(30, TimeUnit.SECONDS) ?: throw AssertionError("no result")).run()
    assertEquals(Message.NONE, model.message)
    assertTrue(opened.isEmpty())
  }

  @Test fun aPurchaseIsAddedAfterTheSignInIfTheCustomerAgrees() {
    val transport = FakeTransport { _, _ -> json(201, "{\"status_url\":\"/v1/android/x\"}") }
    val model = model(transport, user = "anonymous-7", isSignedIn = false)
    model.setActive(true)
    model.open(CLAIM)
    assertEquals(Claim.SIGN_IN, model.claim)
    model.addPurchase()
    assertEquals(Claim.SIGN_IN, model.claim)
    model.changeUser("jdo-1", true)
    assertEquals(Claim.ASK, model.claim)
    assertEquals("Add this purchase to your account?", model.claim.text)
    assertEquals(0, transport.requests.size)
    model.addPurchase()
    run(model, Claim.ADDED)
    assertEquals("https://pay.example.com/v1/android/users/jdo-1/claims", transport.requests.single().url)
    // The link is used up.
    model.changeUser("ben", true)
    assertEquals(Claim.NONE, model.claim)
  }

  @Test fun eachResultOfAClaimIsShown() {
    for ((answer, claim) in listOf(
      Pair(problem(409, slug = "claimed-by-another-user"), Claim.OTHER_USER),
      Pair(problem(410, slug = "claim-gone"), Claim.EXPIRED), Pair(problem(404, slug = "unknown-claim"), Claim.UNKNOWN),
      Pair(problem(503), Claim.LATER), Pair(problem(403), Claim.LATER))) {
      val model = model(FakeTransport { _, _ -> answer })
      model.setActive(true)
      model.open(CLAIM)
      model.addPurchase()
      run(model, claim)
      model.declinePurchase()
      assertEquals(Claim.NONE, model.claim)
    }
  }

  private companion object {
    const val CLAIM = "https://pay.example.com/v1/android/claim/clm_01HXZ4T9V8KQ2M3N4P5R6S7T8V"
  }
}
