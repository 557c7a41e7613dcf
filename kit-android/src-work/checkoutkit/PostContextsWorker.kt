// Posts of the outbox by WorkManager, as soon as there is a network, also when the app is not running.

package checkoutkit

import android.content.Context
import androidx.work.BackoffPolicy
import androidx.work.Constraints
import androidx.work.ExistingWorkPolicy
import androidx.work.NetworkType
import androidx.work.OneTimeWorkRequest
import androidx.work.WorkManager
import androidx.work.Worker
import androidx.work.WorkerParameters
import java.util.concurrent.TimeUnit

/** The app's `Application` implements it, because WorkManager creates the worker. */
interface CheckoutsOwner {
  /** The only one of the process. */
  val checkouts: Checkouts
}

/** Posts what the relay does not have yet: [Checkouts.postPending]. It survives a restart of the device. */
class PostContextsWorker(context: Context, parameters: WorkerParameters) : Worker(context, parameters) {
  override fun doWork(): Result = try {
    val owner = applicationContext as? CheckoutsOwner
      ?: throw IllegalStateException("The app's Application must implement CheckoutsOwner.")
    if (owner.checkouts.postPending() == null) Result.success() else Result.retry()
  } catch (interrupted: RelayException) {
    Result.retry()
  }

  companion object {
    private const val NAME = "checkoutkit.posts"

    /** Schedules it. Call it when [BegunCheckout.isPosted] is false, and when [Checkouts.postPending] is not null. */
    @JvmStatic fun schedule(context: Context) {
      val request = OneTimeWorkRequest.Builder(PostContextsWorker::class.java)
        .setConstraints(Constraints.Builder().setRequiredNetworkType(NetworkType.CONNECTED).build())
        .setBackoffCriteria(BackoffPolicy.EXPONENTIAL, 30L, TimeUnit.SECONDS)
        .build()
      // The new one begins at once, and does not wait for the pause of an earlier one.
      WorkManager.getInstance(context).enqueueUniqueWork(NAME, ExistingWorkPolicy.REPLACE, request)
    }
  }
}
