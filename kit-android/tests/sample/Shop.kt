package com.example.shop

import android.app.Activity
import android.app.Application
import android.app.job.JobInfo
import android.app.job.JobParameters
import android.app.job.JobScheduler
import android.app.job.JobService
import android.content.ActivityNotFoundException
import android.content.ComponentName
import android.content.Context
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import android.os.Handler
import android.os.Looper
import android.util.Log
import android.view.View
import android.widget.Button
import android.widget.LinearLayout
import android.widget.TextView
import androidx.browser.customtabs.CustomTabsClient
import androidx.browser.customtabs.CustomTabsIntent
import checkoutkit.Checkouts
import checkoutkit.Credential
import checkoutkit.RelayClient
import checkoutkit.RelayException
import java.io.File
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.util.concurrent.Executor
import java.util.concurrent.Executors

/** One for the process: the activity comes and goes. */
class ShopApplication : Application() {
  val worker = Executors.newCachedThreadPool()
  private val backend = Backend()

  val checkouts by lazy {
    Checkouts(
      RelayClient("https://pay.example.com", "android", Credential.ClientKey("the app's client key")),
      // Not in the backup: another device must not post what this one has.
      File(noBackupFilesDir, "checkouts.json"),
      // As `links.checkout` in the relay's configuration.
      mapOf("price_1MbK" to "https://buy.stripe.com/example"),
      log = { Log.w("Shop", it.forLog) })
  }

  val model by lazy {
    val handler = Handler(Looper.getMainLooper())
    val model = ShopModel(
      checkouts, "jdo-1", true, { emptyMap<String, Any?>() /* Purchasely.getBuiltInAttributes() */ },
      { userId -> backend.hasPurchase(userId) }, worker,
      Executor { handler.post(it) })
    model.schedulePosts = { PostContextsJob.schedule(this) }
    model
  }

  override fun onCreate() {
    super.onCreate()
    // What an earlier process could not post.
    worker.execute {
      try {
        if (checkouts.postPending() != null) PostContextsJob.schedule(this)
      } catch (interrupted: RelayException) {
        Log.w("Shop", interrupted.logText.forLog)
      }
    }
  }
}

/** Your backend's entitlements. */
class Backend {
  /** @return false if it cannot be reached: it has not reported the purchase. */
  fun hasPurchase(userId: String): Boolean = try {
    val url = URL("https://api.example.com/users/${Uri.encode(userId)}/entitlements")
    val connection = url.openConnection() as HttpURLConnection
    try {
      connection.responseCode == 200 // Your backend's answer says whether the purchase is there.
    } finally {
      connection.disconnect()
    }
  } catch (failed: IOException) {
    false
  }
}

/** The screen. */
class ShopActivity : Activity() {
  private val model get() = (application as ShopApplication).model

  override fun onCreate(savedInstanceState: Bundle?) {
    super.onCreate(savedInstanceState)
    val message = TextView(this)
    val button = Button(this)
    button.text = "Buy"
    button.setOnClickListener { model.buy("price_1MbK") }
    val layout = LinearLayout(this)
    layout.orientation = LinearLayout.VERTICAL
    layout.addView(message)
    layout.addView(button)
    // The answers to "Add this purchase to your account?".
    val answers = listOf(
      answer("Add the purchase") { model.addPurchase() }, answer("Not now") { model.declinePurchase() })
    answers.forEach { layout.addView(it) }
    setContentView(layout)
    model.onChange = {
      message.text = model.message.text + "\n" + model.claim.text
      answers.forEach { it.visibility = if (model.claim.isQuestion) View.VISIBLE else View.GONE }
    }
    model.openPage = { url, isOwn -> openPage(url, isOwn) }
    model.onChange()
    // A recreated activity gets its old intent again, and so does one that is started from the list of recent apps.
    if (savedInstanceState == null && !intent.isFromHistory) openLink(intent)
  }

  private fun answer(text: String, action: () -> Unit): Button {
    val button = Button(this)
    button.text = text
    button.setOnClickListener { action() }
    return button
  }

  override fun onNewIntent(intent: Intent) {
    super.onNewIntent(intent)
    setIntent(intent)
    openLink(intent)
  }

  /** A link to a web checkout buys, so it must not be handled twice. */
  private fun openLink(intent: Intent) {
    val url = intent.dataString ?: return
    intent.data = null
    // Purchasely's SDK cannot read its own links from this intent any more. With its version 6:
    // if (Purchasely.handleDeeplink(Uri.parse(url), this)) return
    model.open(url)
  }

  override fun onResume() {
    super.onResume()
    model.setActive(true)
  }

  override fun onPause() {
    model.setActive(false)
    super.onPause()
  }

  private fun openPage(url: String, isOwn: Boolean) {
    try {
      val tabs = CustomTabsIntent.Builder().setShowTitle(true).build()
      // Without a package, Android may choose an app that claims the host, such as this one. Null: no Custom Tabs.
      val browser = CustomTabsClient.getPackageName(this, null)
      if (browser != null) tabs.intent.setPackage(browser) else if (isOwn) return
      tabs.launchUrl(this, Uri.parse(url))
    } catch (noBrowser: ActivityNotFoundException) {
      Log.w("Shop", "There is no browser.")
    }
  }
}

/**
 * Receives links. It brings the screen to the front and closes the Custom Tab above it, which a start from the
 * launcher must not do.
 */
class LinkActivity : Activity() {
  override fun onCreate(savedInstanceState: Bundle?) {
    super.onCreate(savedInstanceState)
    val next = Intent(this, ShopActivity::class.java)
    if (savedInstanceState == null && !intent.isFromHistory) next.data = intent.data
    intent.data = null
    next.addFlags(Intent.FLAG_ACTIVITY_CLEAR_TOP or Intent.FLAG_ACTIVITY_SINGLE_TOP)
    startActivity(next)
    finish()
  }
}

private val Intent.isFromHistory: Boolean get() = flags and Intent.FLAG_ACTIVITY_LAUNCHED_FROM_HISTORY != 0

/** Posts what is left as soon as there is a network, also when the app is not running. */
class PostContextsJob : JobService() {
  override fun onStartJob(params: JobParameters): Boolean {
    val shop = application as ShopApplication
    shop.worker.execute {
      val isLeft = try {
        shop.checkouts.postPending() != null
      } catch (interrupted: RelayException) {
        true
      }
      jobFinished(params, isLeft)
    }
    return true
  }

  override fun onStopJob(params: JobParameters): Boolean = true

  companion object {
    fun schedule(context: Context) {
      val job = JobInfo.Builder(1, ComponentName(context, PostContextsJob::class.java))
        .setRequiredNetworkType(JobInfo.NETWORK_TYPE_ANY)
        .setBackoffCriteria(30_000L, JobInfo.BACKOFF_POLICY_EXPONENTIAL)
        .build()
      try {
        (context.getSystemService(Context.JOB_SCHEDULER_SERVICE) as JobScheduler).schedule(job)
      } catch (refused: RuntimeException) {
        // Without the permission or the service of the manifest, or with too many jobs. The next start posts.
        Log.w("Shop", "The job was refused: $refused")
      }
    }
  }
}
