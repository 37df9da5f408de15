"""Who may do what with projects and items, and how they are listed."""

from django.db.models import Q
from django.utils import timezone
from rest_framework import generics, permissions, viewsets

from work.models import Item, Project
from work.serializers import ItemSerializer, ProjectSerializer, UserSerializer


class IsOwnerOrReadOnly(permissions.BasePermission):
    def has_object_permission(self, request, view, obj):
        return request.method in permissions.SAFE_METHODS or obj.owner == request.user


class SignUpView(generics.CreateAPIView):
    serializer_class = UserSerializer
    permission_classes = [permissions.AllowAny]


class ProjectViewSet(viewsets.ModelViewSet):
    serializer_class = ProjectSerializer
    permission_classes = [permissions.IsAuthenticated, IsOwnerOrReadOnly]
    filterset_fields = {"updated_at": ["gte"]}
    ordering_fields = ["updated_at", "id"]

    def get_queryset(self):
        user = self.request.user
        return Project.objects.filter(Q(owner=user) | Q(members=user)).distinct()

    def perform_create(self, serializer):
        serializer.save(owner=self.request.user)


class ItemViewSet(viewsets.ModelViewSet):
    serializer_class = ItemSerializer
    filterset_fields = {"updated_at": ["gte"], "done": ["exact"]}
    ordering_fields = ["updated_at", "id"]

    def get_queryset(self):
        items = Item.objects.filter(owner=self.request.user)
        if self.action == "list" and self.request.query_params.get("with_deleted") == "true":
            return items
        return items.filter(deleted_at=None)

    def perform_create(self, serializer):
        serializer.save(owner=self.request.user)

    def perform_destroy(self, instance):
        instance.deleted_at = timezone.now()
        instance.save()
