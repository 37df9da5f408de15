"""Where the API is: below /api/."""

from django.urls import include, path
from rest_framework.authtoken.views import obtain_auth_token
from rest_framework.routers import DefaultRouter

from work.views import ItemViewSet, ProjectViewSet, SignUpView

router = DefaultRouter()
router.register("projects", ProjectViewSet, basename="project")
router.register("items", ItemViewSet, basename="item")

urlpatterns = [
    path("api/", include(router.urls)),
    path("api/users/", SignUpView.as_view()),
    path("api/token/", obtain_auth_token),
]
